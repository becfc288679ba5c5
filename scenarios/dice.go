package scenarios

import (
	"slices"

	"github.com/leakbench/leakbench/fakeserver"
)

// dice knows what a seed makes of the faults of a server.
type dice struct {
	seed   uint64
	server Server
}

func (d dice) due(f fakeserver.Fault, launch int) bool { return f.Due(d.seed, d.server.Label, launch) }

// fires is how often a fault must be seen when its label is launched that many
// times.
func (d dice) fires(f fakeserver.Fault, launches int) int {
	if f.Passive() {
		return 0
	}
	n := 0
	for launch := 1; launch <= launches; launch++ {
		if d.due(f, launch) && !d.forestalled(f, launch) {
			n++
		}
	}
	// A fault of a launch that is not certain is still one that the author
	// wants to see: a run without it shows nothing. Where the launches were left
	// to chance, the seed may have chosen none.
	first := max(f.Launch, f.Every, 1)
	if n == 0 && launches > 0 && f.Probability == 0 && !d.forestalled(f, first) {
		n = 1
	}
	era := d.server.Script.Era
	switch f.On {
	case "start":
		return n
	case "initialize":
		if era != fakeserver.EraModern && era != fakeserver.EraDual {
			return n
		}
	case "eof", "term", "exit", "epipe":
		return 0 // whether the host lets it come to that is what is being tested
	}
	return min(n, 1) // how often a host asks for that is its own business
}

// order in which a server gets to the moments of a handshake.
var handshake = []string{"start", "discover", "initialize", "list", "call"}

// forestalled says that another fault ends the launch before f can happen.
func (d dice) forestalled(f fakeserver.Fault, launch int) bool {
	at := slices.Index(handshake, f.On)
	return slices.ContainsFunc(d.server.Script.Faults, func(g fakeserver.Fault) bool {
		earlier := slices.Index(handshake, g.On)
		return earlier >= 0 && earlier < at && d.due(g, launch) && g.Forestalls(d.server.Script.Era)
	})
}
