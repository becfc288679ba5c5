package record

import (
	"slices"
	"strconv"
	"time"
)

// Command is the command line that plays a run again: Header.Command has its words.
type Command struct {
	Scenario string // a name, or a file
	Seed     uint64
	Server   string // of a host that takes one; "" otherwise
	Limits   CommandLimits
	For      time.Duration // of a soak; 0 otherwise
	Host     string        // its name, where Argv is nil
	Argv     []string      // the host's own command
}

// CommandLimits are the times that a command line sets. 0 is not set. Fast is the flag that gives up early.
type CommandLimits struct {
	Settle, Confirm, Start, Patience time.Duration
	Fast                             bool
}

// fastFlag is what a user writes who wants no full wait.
const fastFlag = "--fast"

// limitFlag is a flag of a command line, and its time.
type limitFlag struct {
	name string
	time *time.Duration
}

func (l *CommandLimits) flags() []limitFlag {
	return []limitFlag{{"--settle", &l.Settle}, {"--confirm", &l.Confirm}, {"--start", &l.Start}, {"--patience", &l.Patience}}
}

// Words are the flags that set these limits.
func (l CommandLimits) Words() (words []string) {
	for _, f := range l.flags() {
		if *f.time > 0 {
			words = append(words, f.name, f.time.String())
		}
	}
	if l.Fast {
		words = append(words, fastFlag)
	}
	return words
}

// Words are what a shell takes.
func (c Command) Words() []string {
	words := []string{"leakbench", "run", c.Scenario, "--seed", strconv.FormatUint(c.Seed, 10)}
	if c.Server != "" {
		words = append(words, "--server", c.Server)
	}
	words = append(words, c.Limits.Words()...)
	if c.For > 0 {
		words = append(words, "--for", c.For.String())
	}
	if c.Argv != nil {
		return append(append(words, "--"), c.Argv...)
	}
	return append(words, "--host", c.Host)
}

// ReadCommand reads how the host was named, and with which limits. The header says the rest.
func ReadCommand(words []string) (c Command) {
	if at := slices.Index(words, "--"); at >= 0 {
		words, c.Argv = words[:at], words[at+1:]
	}
	after := func(flag string) string {
		if at := slices.Index(words, flag); at >= 0 && at+1 < len(words) {
			return words[at+1]
		}
		return ""
	}
	c.Host, c.Limits.Fast = after("--host"), slices.Contains(words, fastFlag)
	for _, f := range c.Limits.flags() {
		if d, err := time.ParseDuration(after(f.name)); err == nil {
			*f.time = d
		}
	}
	return c
}
