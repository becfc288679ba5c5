package install

import (
	"bytes"
	"strings"
	"time"
)

// killDelay is how long a package manager's pipes may outlast it.
const killDelay = 5 * time.Second

const (
	tailLines = 20
	lineMax   = 1000 // bytes of a line that are kept
)

// tail keeps the last lines of what is written to it, and passes each line on.
type tail struct {
	line    func(string)
	pending []byte
	last    []string
}

func (t *tail) Write(text []byte) (int, error) {
	t.pending = append(t.pending, text...)
	for {
		line, rest, whole := bytes.Cut(t.pending, []byte("\n"))
		if !whole {
			t.pending = t.pending[:min(len(t.pending), lineMax)]
			return len(text), nil
		}
		t.add(string(line[:min(len(line), lineMax)]))
		t.pending = rest
	}
}

func (t *tail) add(line string) {
	line = strings.TrimRight(line, "\r")
	if t.line != nil && strings.TrimSpace(line) != "" {
		t.line(line)
	}
	t.last = append(t.last, line)
	t.last = t.last[max(0, len(t.last)-tailLines):]
}

func (t *tail) text() string {
	return strings.Join(append(t.last, string(t.pending)), "\n")
}
