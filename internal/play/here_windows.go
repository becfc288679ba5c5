package play

import (
	"debug/pe"
	"fmt"
	"os/exec"
	"slices"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject"
)

// askable are the signals of a host file that CTRL_C stands for, or that need nobody who listens.
var askable = []string{"", "SIGTERM", "SIGINT", "SIGKILL"}

// refuse says why a host can't be played on this system. One that does not speak the driver protocol is asked to stop by CTRL_C, or by
// the end of its stdin: there are no signals.
func refuse(h subject.Spec) error {
	if h.Kind == record.KindDriver {
		return nil
	}
	if !slices.Contains(askable, h.Stop.Signal) {
		return &Misuse{
			Err:  fmt.Errorf("%s is stopped by %s, which Windows does not have", h.Name, h.Stop.Signal),
			Hint: "stop: {signal: SIGINT} sends CTRL_C there, stop: {eof: true} closes its stdin (docs/use/windows.md)",
		}
	}
	eofAlone := h.Stop.EOF && h.Stop.Signal == "" && h.Kind != record.KindOneshot
	if !eofAlone && h.Stop.Signal != "SIGKILL" && hasNoConsole(h.Argv[0]) {
		return &Misuse{
			Err:  fmt.Errorf("%s is a program without a console: CTRL_C can't ask it to stop", h.Argv[0]),
			Hint: "stop: {eof: true} closes its stdin instead, where it ends by that (docs/use/windows.md)",
		}
	}
	return nil
}

// hasNoConsole says that a program is one with windows: Windows gives it no console. Of one that can't be read nothing is known.
func hasNoConsole(program string) bool {
	path, err := exec.LookPath(program)
	if err != nil {
		return false
	}
	file, err := pe.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	switch header := file.OptionalHeader.(type) {
	case *pe.OptionalHeader32:
		return header.Subsystem == pe.IMAGE_SUBSYSTEM_WINDOWS_GUI
	case *pe.OptionalHeader64:
		return header.Subsystem == pe.IMAGE_SUBSYSTEM_WINDOWS_GUI
	}
	return false
}
