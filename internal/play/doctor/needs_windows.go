package doctor

// unixOnly are the lines that mean nothing here: a job and handles do what they are about.
var unixOnly = []string{"sock-diag", "cgroup"}

func limits() []Lack { return nil }

// NoRoom is for systems that limit how many files a process has.
func NoRoom() *Lack { return nil }
