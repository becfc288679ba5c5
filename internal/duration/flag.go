package duration

import (
	"errors"
	"time"
)

// Flag is a time on a command line (pflag.Value): one below zero would be no limit at all.
type Flag time.Duration

// Set reads what Go writes: 5s, 200ms.
func (f *Flag) Set(text string) error {
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return errors.New("a duration is written like 5s or 200ms")
	case d < 0:
		return errors.New("a duration can't be below 0")
	}
	*f = Flag(d)
	return nil
}

// String is 0 for none, which a help does not print as a default.
func (f *Flag) String() string {
	if *f == 0 {
		return "0"
	}
	return time.Duration(*f).String()
}

// Type is what a help calls it.
func (*Flag) Type() string { return "duration" }
