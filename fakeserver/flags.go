package fakeserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

// defaultLifetime is longer than any run, and short enough that a server that
// outlived everything that should have ended it is not there for ever.
const defaultLifetime = 10 * time.Minute

// options are the command line.
type options struct {
	ledger, run, label, session string
	lifetime                    time.Duration
	reserved                    int  // the launch that its launcher was given; 0: it has none
	attached                    bool // stdin is a proxy's connection

	// By hand, without a ledger:
	script Script
	launch int
	seed   uint64
}

// flagSet is the flags of a server that its helpers have too.
func (o *options) flagSet() *flag.FlagSet {
	fs := flag.NewFlagSet(command, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	fs.StringVar(&o.ledger, "ledger", "", "")
	fs.StringVar(&o.run, "run", "", "")
	fs.StringVar(&o.label, "label", "fake", "")
	fs.DurationVar(&o.lifetime, "lifetime", defaultLifetime, "")
	return fs
}

// parse reads the flags; flag.ErrHelp if help was asked for.
func parse(args []string) (options, error) {
	o := options{}
	var file, era string
	var faults faultFlags
	fs := o.flagSet()
	fs.StringVar(&o.session, "session", "", "")
	fs.IntVar(&o.reserved, "reserved", 0, "")
	fs.BoolVar(&o.attached, "attached", false, "")
	fs.IntVar(&o.launch, "launch", 1, "")
	fs.Uint64Var(&o.seed, "seed", 0, "")
	fs.StringVar(&file, "script", "", "")
	fs.StringVar(&era, "era", "", "")
	fs.Var(&faults, "fault", "")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if fs.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	if o.lifetime <= 0 {
		return o, fmt.Errorf("--lifetime must be more than 0, it is %s", o.lifetime)
	}
	set := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { set[f.Name] = true })
	if o.ledger != "" {
		return o, withLedger(set)
	}
	if set["run"] {
		return o, errors.New("--run goes with --ledger")
	}
	return o.byHand(file, era, faults)
}

// withLedger refuses what the bench decides.
func withLedger(set map[string]bool) error {
	for _, name := range []string{"script", "era", "fault", "launch", "seed"} {
		if set[name] {
			return fmt.Errorf("--%s does not go with --ledger: the bench decides it", name)
		}
	}
	for _, name := range []string{"run", "label"} {
		if !set[name] {
			return fmt.Errorf("--ledger needs --%s", name)
		}
	}
	return nil
}

// byHand puts the script together: the file's, then the flags' on top.
func (o options) byHand(file, era string, faults faultFlags) (options, error) {
	if o.launch < 1 {
		return o, fmt.Errorf("--launch must be at least 1, it is %d", o.launch)
	}
	if file != "" {
		text, err := scriptText(file)
		if err != nil {
			return o, fmt.Errorf("--script: %w", err)
		}
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(&o.script); err != nil {
			return o, fmt.Errorf("--script %s: %w", file, err)
		}
	}
	if era != "" {
		o.script.Era = era
	}
	o.script.Faults = append(o.script.Faults, faults...)
	return o, o.script.Check().Err()
}

// scriptText reads a file. A pipe could keep its reader waiting for ever.
func scriptText(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is a pipe, a folder or a device, not a file", path)
	case err == nil && info.Size() > maxMessage:
		return nil, fmt.Errorf("%s has more than %d MiB, which no script has", path, maxMessage>>20)
	}
	return os.ReadFile(path)
}

// faultFlags is --fault, which may be given more than once.
type faultFlags []Fault

func (*faultFlags) String() string { return "" }

// Set reads one.
func (ff *faultFlags) Set(text string) error {
	f, err := ParseFault(text)
	if err == nil {
		*ff = append(*ff, f)
	}
	return err
}

// ParseFault reads "on=initialize,do=reject,launch=2". It does not check what goes together.
func ParseFault(text string) (f Fault, err error) {
	for _, part := range strings.Split(text, ",") {
		key, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !ok {
			return f, fmt.Errorf("%q is not of the form key=value", part)
		}
		if err := f.set(key, value); err != nil {
			return f, err
		}
	}
	return f, nil
}

func (f *Fault) set(key, value string) error {
	if !contains(fieldNames(), key) {
		return errors.New(unknown("key", key, fieldNames()).Text)
	}
	var err error
	what := "no number"
	switch v := fieldNamed(key).Of(f).(type) {
	case *string:
		*v = value
	case *int:
		*v, err = strconv.Atoi(value)
	case *float64:
		*v, err = strconv.ParseFloat(value, 64)
	case *Duration:
		what = "no time; write it like 500ms or 1.5s"
		err = v.UnmarshalText([]byte(value))
	}
	if err != nil {
		return fmt.Errorf("%s: %q is %s", key, value, what)
	}
	return nil
}
