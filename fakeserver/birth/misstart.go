package birth

import (
	"os"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/lines"
)

// maxArgs is how many arguments of a Misstart are told.
const maxArgs = 64

// Misstarted tells the ledger, where the arguments still name it, what arrived in place of the arguments that the bench gave.
func Misstarted(args []string, wrong error) {
	path := valueOf("--ledger", args)
	if path == "" {
		return
	}
	conn, err := dial(path, time.Now().Add(dialWait))
	if err != nil {
		return
	}
	defer conn.Close()
	said := Misstart{
		Certificate: Certificate{Role: RoleMisstarted, PID: os.Getpid()},
		Args:        args[:min(len(args), maxArgs)], Error: wrong.Error(),
	}
	line, err := EncodeLine(said)
	if err != nil {
		return
	}
	if _, err = conn.Write(line); err == nil {
		// The kernel's word on who says it needs a process that lives.
		_ = conn.SetReadDeadline(time.Now().Add(dialWait))
		_, _ = lines.New(conn, MaxLine).Next()
	}
}

// valueOf is the value of a flag, also where a host has made one text of all arguments.
func valueOf(flag string, args []string) string {
	words := strings.Fields(strings.Join(args, " "))
	for i, w := range words {
		if value, ok := strings.CutPrefix(w, flag+"="); ok {
			return value
		}
		if w == flag && i+1 < len(words) {
			return words[i+1]
		}
	}
	return ""
}
