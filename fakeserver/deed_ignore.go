package fakeserver

func ignoreDeed() deed {
	return deed{
		name: "ignore", text: "lives on, idle",
		on:      []string{onEOF, onTerm},
		decides: true,
		commit:  func(*server, Fault, *request) bool { return true },
	}
}
