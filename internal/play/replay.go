package play

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/redact"
	"github.com/leakbench/leakbench/scenarios"
)

// Replay is the cell of a saved run, on its host unless another is named, and
// the limits that it was played with where none are given.
func Replay(self string, run *record.Run, seed uint64, limits *Limits, name string, command []string) (c Cell, err error) {
	c.Seed = seed
	if seed == 0 {
		c.Seed = run.Header.Seed
	}
	if c.Scenario, err = scenarioOf(run); err != nil {
		return c, &Misuse{Err: err}
	}
	words, old := run.Header.Command, []string(nil)
	if at := slices.Index(words, "--"); at >= 0 {
		words, old = words[:at], words[at+1:]
	}
	for flag, limit := range limits.Flags() {
		if d, err := time.ParseDuration(after(words, flag)); err == nil && *limit == 0 {
			*limit = d
		}
	}
	switch {
	case command != nil || name != "":
	case len(old) == 0:
		if name = after(words, "--host"); name == "" {
			name = run.Header.Host.Name
		}
	case slices.ContainsFunc(old, hidden):
		return c, &Misuse{
			errors.New("a part of the host's command is not in the run, where no secret is written down"),
			"give the command again: leakbench replay RUN -- COMMAND ARGS...",
		}
	default:
		command = old
	}
	c.Host, err = TheHost(self, name, command)
	return c, err
}

// scenarioOf is the scenario as it was then, whatever its file says now.
func scenarioOf(run *record.Run) (*scenarios.Scenario, error) {
	then := &run.Header.Scenario
	if b, err := scenarios.Builtin(then.Name); err == nil && b.Source == then.Source {
		return b, nil
	}
	file := then.File
	if file == "" {
		file = then.Name + ".yaml"
	}
	s, err := scenarios.Parse(file, []byte(then.Source))
	if err != nil {
		return nil, fmt.Errorf("this version can't play the scenario of the run: %w", err)
	}
	return s, nil
}

// hidden says that a word is not what the host was started with: redacted, or
// cut off.
func hidden(word string) bool {
	return strings.Contains(word, redact.Mark) || strings.Contains(word, "…")
}

func after(words []string, flag string) string {
	if at := slices.Index(words, flag); at >= 0 && at+1 < len(words) {
		return words[at+1]
	}
	return ""
}
