package play

// Misuse is an error of whoever asked, with the next step to take: in words, or as a remedy.
type Misuse struct {
	Err    error
	Hint   string
	Remedy Remedy
}

func (m *Misuse) Error() string { return m.Err.Error() }
func (m *Misuse) Unwrap() error { return m.Err }

// Remedy is a next step that a command line takes with a flag. This package does not know its flags.
type Remedy string

// The remedies.
const (
	OtherFolder   Remedy = "another folder for runs"
	NoLink        Remedy = "a folder of a scoreboard that is no link"
	OtherCorpus   Remedy = "another folder for the corpus"
	NewRecord     Remedy = "a file for the run that is not there yet"
	OtherRecord   Remedy = "another file for the run"
	RunsFolder    Remedy = "the folder of the runs"
	HostCommand   Remedy = "a command of a host"
	ServerCommand Remedy = "a command of a server"
	WholeCommand  Remedy = "the whole command of the host"
)
