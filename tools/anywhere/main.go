// Command anywhere plays the first tier of the tests in a table of surroundings: few processors, a plain user, a read-only home, and
// others. It prints one line for each row: the result, the wall time, and the user and system time of all descendants.
//
//	go run ./tools/anywhere [--only a,b] [--allow a,b] [--logs FOLDER] [--markdown] [-- COMMAND ...]
//	go run ./tools/anywhere --list
//
// The rows are played one after the other. The tests are built before the first row, so that no row includes the time of the compiler.
// A row that can't be played here fails the command, unless --allow names it. All rows can be played by root on Linux. The row
// plain-user keeps /var/tmp/leakbench-anywhere, which has a copy of Go's caches.
//
// Each row runs below its own process, which adopts orphans. Otherwise the time of orphans would not be counted, and an interrupt would
// leave them running. A test that needs orphans to reach PID 1 is therefore skipped in all rows but no-cgroup.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/leakbench/leakbench/internal/cpuload"
	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/text"
)

// parts are the other processes that this program plays. Nobody types their names by mistake.
var parts = map[string]func(args []string) (code int){
	partWarden: warden,
	partLoop:   func([]string) int { return cpuload.Main() },
}

const (
	partWarden = "anywhere:warden"
	partLoop   = "anywhere:busy-loop"
)

func main() {
	if code, is := playPart(os.Args); is {
		os.Exit(code)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	good, err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "anywhere:", err)
		os.Exit(2)
	case !good:
		os.Exit(1)
	}
}

// playPart plays a part if the arguments name one.
func playPart(args []string) (code int, is bool) {
	if len(args) < 2 || parts[args[1]] == nil {
		return 0, false
	}
	return parts[args[1]](args[2:]), true
}

// options are the options of the command line.
type options struct {
	list, markdown bool
	only, allow    []string
	logs           string
	command        []string
}

func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("anywhere", flag.ContinueOnError)
	flags.BoolVar(&o.list, "list", false, "list the rows and play none")
	flags.BoolVar(&o.markdown, "markdown", false, "print a table for docs/evidence/performance.md")
	flags.StringVar(&o.logs, "logs", "", "folder for the full log of each row (empty: a new folder in TMPDIR)")
	names := func(into *[]string) func(string) error {
		return func(list string) error {
			*into = append(*into, strings.Split(list, ",")...)
			return nil
		}
	}
	flags.Func("only", "play only these rows, separated by commas", names(&o.only))
	flags.Func("allow", "do not fail if these rows can't be played here, separated by commas", names(&o.allow))
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	known := lists.Map(table, func(r row) string { return r.name })
	for _, name := range slices.Concat(o.only, o.allow) {
		if !slices.Contains(known, name) {
			return o, fmt.Errorf("no row is called %q: %s", name, cmp.Or(text.DidYouMean(name, known), "--list names all"))
		}
	}
	if o.command = flags.Args(); len(o.command) == 0 {
		o.command = []string{"go", "test", "-count=1", "./..."}
	}
	return o, nil
}

// run reports whether each row has passed, or may be impossible to play here.
func run(ctx context.Context, args []string, out io.Writer) (good bool, err error) {
	o, err := parse(args)
	if err != nil {
		return false, err
	}
	if o.list {
		for _, r := range table {
			fmt.Fprintf(out, "%-*s  %s\n", width, r.name, r.gives)
		}
		return true, nil
	}
	around, err := lookAround(ctx)
	if err != nil {
		return false, err
	}
	if o.logs == "" {
		o.logs, err = os.MkdirTemp("", "anywhere-logs-")
	} else {
		err = os.MkdirAll(o.logs, 0o755)
	}
	if err != nil {
		return false, fmt.Errorf("making the folder for logs: %w", err)
	}
	fmt.Fprintln(os.Stderr, "anywhere: the logs are in", o.logs)
	t := tool{settings: around, options: o, rows: table, out: out, built: map[string]bool{}}
	return t.playAll(ctx)
}
