package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/duration"
	"github.com/leakbench/leakbench/internal/law"
	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/play/progress"
	"github.com/leakbench/leakbench/internal/play/shelf"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject"
	"github.com/leakbench/leakbench/internal/subject/hostfile"
	"github.com/leakbench/leakbench/internal/subject/install"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/scenarios"
)

// item is a row of a list.
type item struct {
	Name string   `json:"name"`
	Text string   `json:"text"`
	More []string `json:"more,omitempty"`
	// Of a scenario: its level, field reports and tags, and the laws and the steps that it is about.
	Level    string   `json:"level,omitempty"`
	Reports  []string `json:"reports,omitempty"`
	Tags     []string `json:"tags,omitempty"`
	Laws     []string `json:"laws,omitempty"`
	Defining []string `json:"defining,omitempty"`
	// Of a host: its version, and whether it is installed.
	*shelf.Item
}

func (it *item) cells() []string {
	if it.Item != nil {
		return []string{it.Name, it.Version, it.State(), it.Text}
	}
	row := append([]string{it.Name, it.Level, it.Text}, it.More...)
	return slices.DeleteFunc(row, func(cell string) bool { return cell == "" })
}

// shown are what can be listed, and with what; mutants adds those of the self-test.
var shown = []struct {
	name  string
	items func(mutants bool) ([]item, error)
}{{"scenarios", scenarioItems}, {"hosts", hostItems}, {"faults", faultItems}, {"laws", lawItems}, {"kinds", kindItems}}

var listed = func() (names []string) {
	for _, s := range shown {
		names = append(names, s.name)
	}
	return names
}()

func (a *app) listCommand() *cobra.Command {
	var mutants bool
	cmd := &cobra.Command{
		Use:       "list",
		ValidArgs: listed,
		RunE: func(_ *cobra.Command, args []string) error {
			what := listed
			if len(args) > 0 {
				what = args
			}
			return a.list(what, len(args) != 1, mutants)
		},
	}
	cmd.Flags().BoolVar(&mutants, "all", false, "also list the mutants that the self-test runs")
	return cmd
}

func (a *app) list(what []string, titles, mutants bool) error {
	all := map[string][]item{}
	for _, w := range what {
		if err := oneOf("list", w, listed...); err != nil {
			return err
		}
		var err error
		if all[w], err = shown[slices.Index(listed, w)].items(mutants); err != nil {
			return err
		}
	}
	if a.format == "json" {
		return a.object(all, pretty)
	}
	table := a.table()
	for i, w := range what {
		if titles {
			if i > 0 {
				fmt.Fprintln(table)
			}
			fmt.Fprintf(table, "%s\n", strings.ToUpper(w))
		}
		for _, it := range all[w] {
			fmt.Fprintln(table, strings.Join(it.cells(), "\t"))
		}
		if err := table.Flush(); err != nil {
			return err
		}
	}
	return nil
}

func scenarioItems(bool) (items []item, err error) {
	for _, name := range scenarios.Names() {
		s, err := scenarios.Builtin(name)
		if err != nil {
			return nil, err
		}
		items = append(items, item{
			Name: name, Text: s.Title, Reports: s.Reports, Level: string(s.Level), Tags: s.Tags, Laws: s.Laws, Defining: s.Defining(),
		})
	}
	return items, nil
}

func hostItems(mutants bool) (items []item, err error) {
	specs, err := shelf.All()
	if err != nil {
		return nil, err
	}
	if mutants {
		specs = append(specs, subject.Mutants("leakbench")...)
		if runtime.GOOS == record.Windows {
			specs = append(specs, subject.ForWindows("leakbench")...)
		}
	}
	for _, s := range specs {
		row, err := shelf.Of(s)
		if err != nil {
			return nil, err
		}
		items = append(items, item{Name: row.Name, Text: row.Text, Item: &row})
	}
	return items, nil
}

func faultItems(bool) (items []item, err error) {
	for _, d := range fakeserver.Moments {
		items = append(items, item{Name: "on: " + d.Name, Text: d.Text, More: []string{"do: " + strings.Join(d.With, " ")}})
	}
	for _, d := range fakeserver.Actions {
		items = append(items, item{Name: "do: " + d.Name, Text: d.Text, More: []string{"on: " + strings.Join(d.With, " ")}})
		for _, way := range d.As {
			items = append(items, item{Name: "    as: " + way.Name, Text: way.Text})
		}
	}
	return items, nil
}

func lawItems(bool) ([]item, error) {
	return lists.Map(append(law.All(), law.Servers()...), func(l law.Law) item {
		return item{Name: l.ID, Text: l.Name, More: []string{l.Says}}
	}), nil
}

func kindItems(bool) ([]item, error) {
	return lists.Map(law.Kinds(), func(k law.Kind) item { return item{Name: k.ID, Text: k.Law, More: []string{k.Title}} }), nil
}

func (a *app) hostsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:  "hosts",
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return a.list([]string{"hosts"}, false, false) },
	}
	cmd.AddCommand(a.hostsInstallCommand())
	return cmd
}

func (a *app) hostsInstallCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "install",
		ValidArgsFunction: completion(cobra.ShellCompDirectiveNoFileComp, func() []string { return append(shelf.Names(), "all") }),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage(errors.New("no host given"), "leakbench hosts lists them; all installs every one")
			}
			ctx, stop := interruptible(cmd.Context())
			defer stop()
			return a.installHosts(ctx, args)
		},
	}
}

func (a *app) installHosts(ctx context.Context, args []string) error {
	specs, err := a.hostsToInstall(args)
	if err != nil {
		return err
	}
	var failed error
	for _, s := range specs {
		err := a.installHost(ctx, s)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if failed = errors.Join(failed, err); err != nil && len(specs) > 1 { // the others are tried all the same
			fmt.Fprintf(a.err, "%s: failed: %s\n", s.Given, text.PrintableLines(err.Error()))
		}
	}
	return failed
}

func (a *app) hostsToInstall(args []string) ([]subject.Spec, error) {
	for at := slices.Index(args, "all"); at >= 0; at = slices.Index(args, "all") {
		args = slices.Replace(args, at, at+1, shelf.Names()...)
	}
	var specs []subject.Spec
	for _, name := range args {
		s, err := hostfile.Lookup("leakbench", name)
		if err != nil {
			return nil, usage(err, "leakbench hosts lists them")
		}
		if s.Install == nil {
			fmt.Fprintf(a.err, "%s: nothing to install\n", name)
			continue
		}
		specs = append(specs, s)
	}
	return specs, nil
}

func (a *app) installHost(ctx context.Context, s subject.Spec) error {
	begun := time.Now()
	live := progress.Wait(a.err, a.progressMode("auto"), "installing "+s.Given)
	params := shelf.Params(s)
	params.Line = live.Line
	var err error
	if params.Files == nil { // an own host file, which stands in its folder
		params.Files, err = install.Beside(s.Dir, params.Runtime, params.Lock)
	}
	fresh := false
	if err == nil {
		fresh, err = install.Install(ctx, params)
	}
	live.Stop()
	var missing *install.Missing
	switch {
	case errors.As(err, &missing):
		return &failure{exitHost, fmt.Errorf("%s: %w", s.Given, err), missing.Hint}
	case errors.Is(err, install.ErrFiles):
		return usage(fmt.Errorf("%s: %w", s.Given, err), "docs/use/host-file.md shows what install needs")
	case errors.Is(err, install.ErrFolder):
		return usage(fmt.Errorf("%s could not be installed: %w", s.Given, err), "set LEAKBENCH_HOSTS_DIR to a folder that can be written to")
	case err != nil:
		return &failure{
			exitHost, fmt.Errorf("%s could not be installed: %w", s.Given, err),
			"what the package manager said is above; nothing was left behind",
		}
	case !fresh:
		_, err = fmt.Fprintf(a.out, "%s: installed already, in %s\n", s.Given, s.InstallDir)
	default:
		_, err = fmt.Fprintf(a.out, "%s: installed in %s, %d MB, in %s\n",
			s.Given, duration.Text(time.Since(begun)), shelf.Megabytes(s.InstallDir), s.InstallDir)
	}
	return err
}
