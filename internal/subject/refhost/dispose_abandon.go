package refhost

// abandon forgets every session that is not closed by request: nobody closes
// its client, signals its server or waits for it (hermes-agent#11202, where
// the task that owned the client was parked for ever). It is an orphan set that
// learns of no process, and so never has an orphan to sweep.
type abandon struct{ *orphanSet }

func newAbandon() disposer { return abandon{makeOrphanSet()} }

// shutdown leaves the servers to the end of their stdin, which comes when the
// host is gone: its way out does not lead past the teardown.
func (abandon) shutdown([]*connection) {}
