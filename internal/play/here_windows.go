package play

import (
	"fmt"

	"github.com/leakbench/leakbench/internal/subject/host"
)

// refuse says why a host can't be played on this system. Without SIGTERM only one that speaks the driver protocol can be asked to stop.
func refuse(h host.Spec) error {
	if h.Kind.Driven() {
		return nil
	}
	return &Misuse{
		fmt.Errorf("%s is a host that does not speak the driver protocol: on Windows those can't be run yet", h.Name),
		"docs/driver-protocol.md: a driver is about 60 lines; or run it on Linux, or in WSL",
	}
}
