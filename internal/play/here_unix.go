//go:build unix

package play

import (
	"fmt"

	"github.com/leakbench/leakbench/internal/subject"
	"github.com/leakbench/leakbench/internal/subject/catalogue"
)

// refuse says why a host can't be played on this system: the mistakes of some need Windows.
func refuse(h subject.Spec) error {
	if !catalogue.ForWindows(h.Name) || h.File != "" {
		return nil
	}
	return &Misuse{
		Err:  fmt.Errorf("%s is a host for Windows: it makes a mistake with Job Objects", h.Name),
		Hint: "leakbench list hosts shows those that can be played here",
	}
}
