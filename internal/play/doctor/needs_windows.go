package doctor

// limits says what no run has here yet.
func limits() []Lack {
	return []Lack{{
		Name: "system", Found: "leakbench can't start hosts on Windows yet",
		Do: "run it in WSL, or on Linux or macOS: judge, report, list and explain work here",
	}}
}
