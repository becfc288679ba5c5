package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/leakbench/leakbench/internal/duration"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	observeattach "github.com/leakbench/leakbench/internal/observe/attach"
	"github.com/leakbench/leakbench/internal/play/attach"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/report/model"
)

type attachFlags struct {
	during, settle, every duration.Flag
	resident              int
	failOn                []string
	record                string
	prometheus            string
	paste                 bool
}

func (a *app) attachCommand() *cobra.Command {
	f := attachFlags{settle: duration.Flag(attach.Settle)}
	cmd := &cobra.Command{
		Use:  "attach",
		RunE: func(cmd *cobra.Command, args []string) error { return a.attach(cmd.Context(), args, f) },
	}
	flags := cmd.Flags()
	flags.Var(&f.during, "for", "how long to watch; 0: on a terminal until Ctrl-C, elsewhere 1m")
	flags.Var(&f.settle, "settle",
		"how long a server may be idle after a newer one has taken its place, a zombie may stay, or a closed stdin be ignored")
	flags.IntVar(&f.resident, "resident", 0, "how many idle servers of a command line the host keeps on purpose")
	flags.StringSliceVar(&f.failOn, "fail-on", nil,
		"laws whose findings are errors; the others are warnings (default: those that are errors in a run)")
	flags.StringVar(&f.record, "record", "", "file to write the run to, which judge and report read")
	flags.StringVar(&f.prometheus, "prometheus", "", "address to serve metrics at, such as :9187; without a host it is loopback")
	flags.Var(&f.every, "every", "time between snapshots where there is no terminal; 0: 30s")
	flags.BoolVar(&f.paste, "paste", false, "print a redacted summary for an issue (Markdown) instead of the report")
	a.verboseFlag(cmd, "print all processes, all columns and the evidence on each")
	completeFlag(cmd, "fail-on", cobra.ShellCompDirectiveNoFileComp, func() []string { return attach.Laws })
	return cmd
}

func (a *app) attach(ctx context.Context, args []string, f attachFlags) error {
	if err := observeattach.Supported(); err != nil {
		return usage(err, "")
	}
	if len(args) != 1 {
		return usage(errors.New("attach takes one PID or NAME"), "for example: leakbench attach $(pgrep -o hermes)")
	}
	if a.format == "json" && f.paste {
		return usage(errors.New("--paste and --format json both have standard output for themselves"), "use one of them")
	}
	if err := between("--resident", f.resident, 0, maxTimes); err != nil {
		return err
	}
	host, err := attach.Find(args[0])
	if err = cmp.Or(f.seen(), notStdout("--record", f.record), err); err != nil {
		return err
	}
	return a.attachTo(ctx, host, f)
}

// seen says which of the laws can't be seen from outside.
func (f *attachFlags) seen() error {
	for _, law := range f.failOn {
		if !slices.Contains(attach.Laws, law) {
			return usage(fmt.Errorf("law %q: from outside only %s can be seen", law, strings.Join(attach.Laws, ", ")),
				"for example: --fail-on L1,L4")
		}
	}
	return nil
}

func (a *app) attachTo(ctx context.Context, host record.Process, f attachFlags) error {
	ctx, stop := signal.NotifyContext(ctx, stops...) // the run ends, and its verdict counts
	defer stop()
	screen := attach.NewScreen(a.out, a.textOptions(), time.Duration(f.every))
	if !screen.Redraws() && f.during == 0 {
		f.during = duration.Flag(time.Minute)
	}
	p := attach.Params{
		Host: host, For: time.Duration(f.during), Settle: time.Duration(f.settle), Resident: f.resident, FailOn: f.failOn, Record: f.record,
		Tool: thisBuild().Tool,
	}
	screen.Quiet = a.format == "json" || f.paste
	p.OnLook = screen.Look
	if f.prometheus != "" {
		where, stop, err := attach.Serve(f.prometheus, screen)
		if err != nil {
			return usage(err, "for example: --prometheus :9187")
		}
		defer stop()
		a.note("metrics   http://%s/metrics\n", where)
	}
	defer screen.Clear() // whatever comes
	j, err := attach.Play(ctx, p)
	screen.Clear()
	if j == nil || errors.Is(err, syscall.EMFILE) { // it has seen nothing
		return err
	}
	if f.paste && err == nil {
		var b bytes.Buffer
		model.Paste(&b, j)
		if _, err := a.out.Write(b.Bytes()); err != nil {
			return err
		}
		said := answerOf([]verdict.Judged{*j}, nil, nil)
		return exitWhen(said.exit.Code != exitClean, said.exit.Code)
	}
	return a.conclude(answerOf([]verdict.Judged{*j}, err, nil))
}
