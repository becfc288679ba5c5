package fakeserver

import "os"

// helperAction starts processes that a real server would have for a browser, a
// language server or a watcher. They do nothing, live until somebody or the end
// of the bench ends them, and have no line on the ledger. The server waits for
// those that end before it.
//
// A copy of another server's stdin, by which a helper would keep the end of
// stdin from that one, can't come from a server: only a host that starts its
// servers without close-on-exec hands it down. What a server can hand down is
// its own: as stdout withholds the end of its stdout from the host.
var helperAction = action{
	name: "helper", text: "starts (count) helper processes that outlive it, if nobody ends them",
	on:    []string{onStart, onCall, onOrder},
	takes: []string{"count"},
	as: []Doc{
		{Name: "group", Text: "in the server's process group, with no stdio"},
		{Name: "stdio", Text: "in the server's process group, with its stdin, stdout and stderr"},
		{Name: "stdout", Text: "in the server's process group, with its stdout: the host can't see the end of it"},
		{Name: "session", Text: "in a session of its own (setsid), with no stdio"},
		{Name: "daemon", Text: "in a session of its own and nobody's child (double fork), with no stdio"},
	},
	commit: func(s *server, f Fault, _ *request) bool {
		for range max(f.Count, 1) {
			if err := s.help(f.variant()); err != nil {
				s.cannot(f, err)
				break
			}
		}
		return false
	},
}

func (s *server) help(kind string) error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	files, where := [3]*os.File{null, null, null}, sameGroup
	switch kind {
	case "stdio":
		files = [3]*os.File{os.Stdin, s.out.file, os.Stderr}
	case "stdout":
		files[1] = s.out.file
	case "session":
		where = ownSession
	case "daemon":
		return startDetached(s.options.helper(kind), files)
	}
	p, err := start(s.options.helper(kind), files, where)
	if err == nil {
		go func() { _, _ = p.Wait() }()
	}
	return err
}
