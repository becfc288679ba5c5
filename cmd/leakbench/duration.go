package main

import (
	"errors"
	"time"

	"github.com/spf13/pflag"
)

// span is a duration of a flag: one below zero would be no limit at all.
type span time.Duration

func (s *span) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil {
		return errors.New("a duration is written like 5s or 200ms")
	}
	if d < 0 {
		return errors.New("a duration can't be below 0")
	}
	*s = span(d)
	return nil
}

// String is 0 for none, which a help does not print as a default.
func (s *span) String() string {
	if *s == 0 {
		return "0"
	}
	return time.Duration(*s).String()
}

func (*span) Type() string { return "duration" }

func spanVar(flags *pflag.FlagSet, to *time.Duration, name, usage string) {
	*to = 0
	flags.Var((*span)(to), name, usage)
}
