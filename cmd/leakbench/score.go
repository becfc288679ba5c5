package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/play/scoreboard"
	"github.com/leakbench/leakbench/internal/play/scoring"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/stage/progress"
	"github.com/leakbench/leakbench/internal/subject/hostfile"
	"github.com/leakbench/leakbench/report/baseline"
	boards "github.com/leakbench/leakbench/report/scoreboard"
	"github.com/leakbench/leakbench/scenarios"
)

type scoreFlags struct {
	hosts, scenarios       []string
	out                    []string
	from                   string
	dir                    string
	jobs                   int
	links                  bool
	seed                   uint64
	settle, confirm, start time.Duration
}

func (a *app) scoreCommand() *cobra.Command {
	var f scoreFlags
	cmd := &cobra.Command{
		Use:   "score [--hosts a,b,...|all|published] [--scenarios ...] [-o scoreboard.html|.md|.json ...]",
		Short: "Play hosts in scenarios and make a scoreboard of it",
		Long: `Play each host in each scenario and make a scoreboard of it: clean, the laws that
were broken, inconclusive, or not applicable with the reason.

Cells are played side by side; one that comes out inconclusive is played once
more, alone, and says so. What an earlier call has played is not played again
while the tool, the host's version, the scenario and the limits are the same.

Exit codes: 0 the scoreboard was made, whatever it says, 2 bad flag, host or
scenario, 4 none of the hosts is installed, 70 a bug of the bench, 128+n stopped
by signal n: the same command goes on from there.`,
		Example: `  leakbench score --hosts published -o scoreboard.html
  leakbench score --hosts python-sdk,python-sdk@1.29.0,./my-host.yaml --scenarios storm,crash
  leakbench score --hosts all --jobs 8 -o docs/scoreboard.md -o scoreboard.json
  leakbench score --from scoreboard.json -o scoreboard.html`,
		Args: func(cmd *cobra.Command, args []string) error {
			return noArgs(cmd, args)
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, other := range []string{"hosts", "scenarios", "dir", "jobs", "seed", "settle", "confirm", "start"} {
				if f.from != "" && cmd.Flags().Changed(other) {
					return usage(fmt.Errorf("--from plays nothing, and --%s is about what is played", other), "leave one of them out")
				}
			}
			return a.score(cmd.Context(), f)
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&f.hosts, "hosts", []string{"published"}, "hosts as --host of run takes them; all: those that leakbench hosts lists, published: those that somebody else ships")
	flags.StringSliceVar(&f.scenarios, "scenarios", []string{"all"}, "scenarios or files")
	flags.StringArrayVarP(&f.out, "out", "o", nil, "write the scoreboard to this file: .html, .md or .json; several times for several")
	flags.StringVar(&f.from, "from", "", "play nothing: write the scoreboard of this .json file, which -o has written before, in other forms")
	flags.StringVar(&f.dir, "dir", filepath.Join(".leakbench", "score"), "folder for the runs; what is there already is not played again")
	flags.IntVar(&f.jobs, "jobs", max(2, runtime.NumCPU()), "how many runs at the same time")
	flags.BoolVar(&f.links, "links", true, "link each cell to its run's report, relative to the file")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of everything random")
	spanVar(flags, &f.settle, "settle", "how long a server may take to go; 0 is what the host's profile or the scenario says")
	spanVar(flags, &f.confirm, "confirm", "how long a survivor is watched after that; 0 likewise")
	spanVar(flags, &f.start, "start", "how long a host may take to come up (default 15s)")
	_ = cmd.RegisterFlagCompletionFunc("hosts", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return append(hostNames(), "all", "published"), cobra.ShellCompDirectiveDefault
	})
	_ = cmd.RegisterFlagCompletionFunc("scenarios", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return append(scenarios.Names(), "all"), cobra.ShellCompDirectiveDefault
	})
	return cmd
}

// score loads, plays what is not there yet, and writes the board.
func (a *app) score(ctx context.Context, f scoreFlags) error {
	if f.jobs < 1 || f.jobs > maxJobs {
		return usage(fmt.Errorf("--jobs %d: must be from 1 to %d", f.jobs, maxJobs), "")
	}
	for _, file := range f.out {
		if boardWriter(file, nil) == nil {
			return usage(fmt.Errorf("-o %s: what it is follows from its name, which must end in .html, .md or .json", file), "")
		}
	}
	if f.from != "" {
		board, err := readBoard(f.from)
		if err != nil {
			return usage(err, "--from takes what leakbench score -o FILE.json has written")
		}
		return a.writeScore(board, f)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	hosts, err := scoredHosts(self, f.hosts)
	if err != nil {
		return err
	}
	plays, err := scoredScenarios(f.scenarios)
	if err != nil {
		return err
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	board, err := a.playScore(ctx, self, f, hosts, plays)
	if board == nil {
		return err
	}
	board.Omitted = omitted(plays)
	if failed := a.writeScore(board, f); failed != nil {
		return errors.Join(err, failed)
	}
	if err == nil && board.Count("")[scoreboard.NotInstalled] == len(board.Cells) {
		err = &failure{code: exitHost, err: errors.New("none of the hosts is installed"), hint: "leakbench hosts install NAME, or all"}
	}
	return err
}

const maxJobs = 256

// maxBoard is how large a scoreboard's file may be.
const maxBoard = 64 << 20

// readBoard reads a scoreboard that was written before. Its strings are
// whoever's: the renderers take them for that.
func readBoard(file string) (*scoreboard.Board, error) {
	in, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	var board scoreboard.Board
	d := json.NewDecoder(io.LimitReader(in, maxBoard))
	d.DisallowUnknownFields()
	if err := d.Decode(&board); err != nil {
		return nil, fmt.Errorf("%s is no scoreboard: %w", file, err)
	}
	if len(board.Hosts) == 0 || len(board.Scenarios) == 0 {
		return nil, fmt.Errorf("%s is no scoreboard: it has no hosts or no scenarios", file)
	}
	return &board, nil
}

// scoredHosts are those that are named, each once. One that is not installed is
// on the board all the same.
func scoredHosts(self string, names []string) ([]scoring.Host, error) {
	var hosts []scoring.Host
	for _, name := range names {
		group := []string{name}
		switch name {
		case "all":
			group = hostfile.Names(self)
		case "published":
			group = gatewaysLast(self, append([]string{"mcp-go", "go-sdk"}, hostfile.Presets()...))
		}
		for _, id := range group {
			if slices.ContainsFunc(hosts, func(h scoring.Host) bool { return h.ID == id }) {
				continue
			}
			spec, err := lookUp(self, id)
			if err != nil {
				return nil, err
			}
			hosts = append(hosts, scoring.Host{ID: id, Spec: spec})
		}
	}
	if len(hosts) == 0 {
		return nil, usage(errors.New("which hosts?"), "leakbench list hosts shows them; --hosts published is those that somebody else ships")
	}
	return hosts, nil
}

// gatewaysLast puts what is of one kind side by side.
func gatewaysLast(self string, names []string) []string {
	gateway := func(name string) int {
		if spec, err := lookUp(self, name); err == nil && spec.Kind == record.KindGateway {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(names, func(a, b string) int { return gateway(a) - gateway(b) })
	return names
}

func scoredScenarios(names []string) ([]*scenarios.Scenario, error) {
	all, err := load(names)
	if err != nil {
		return nil, err
	}
	return distinct(all)
}

// distinct leaves each scenario in once. Two of one name could not be told
// apart.
func distinct(all []*scenarios.Scenario) ([]*scenarios.Scenario, error) {
	var plays []*scenarios.Scenario
	for _, s := range all {
		at := slices.IndexFunc(plays, func(p *scenarios.Scenario) bool { return p.Name == s.Name })
		switch {
		case at < 0:
			plays = append(plays, s)
		case plays[at].Source != s.Source:
			return nil, usage(fmt.Errorf("two scenarios are called %q: %s", s.Name, s.File), "give one of them another name")
		}
	}
	return plays, nil
}

// omitted are the built-in scenarios that are not played.
func omitted(plays []*scenarios.Scenario) []string {
	left := []string{}
	for _, name := range scenarios.Names() {
		if !slices.ContainsFunc(plays, func(s *scenarios.Scenario) bool { return s.Name == name }) {
			left = append(left, name)
		}
	}
	return left
}

func (a *app) playScore(ctx context.Context, self string, f scoreFlags, hosts []scoring.Host, plays []*scenarios.Scenario) (*scoreboard.Board, error) {
	var live *progress.Counting
	left := 0
	board, err := scoring.Play(ctx, scoring.Params{
		Self: self, Dir: f.dir, Jobs: f.jobs, Tool: tool(), Hosts: hosts, Scenarios: plays, Seed: f.seed,
		Settle: record.Duration(f.settle), Confirm: record.Duration(f.confirm), Start: record.Duration(f.start),
		Command: f.command(),
		Again: func(s *scenarios.Scenario, h scoring.Host) []string {
			return reproduce(s, h.Spec, runFlags{host: h.ID, settle: f.settle, confirm: f.confirm, start: f.start}, f.seed)
		},
		Page: func(path string, j verdict.Judged) error {
			j.Page, j.HostLog = path, hostLog(j.Dir)
			return writeHTML(path, baseline.Baseline{}, j)
		},
		OnPlan: func(play, have int) {
			left = play
			if a.progressMode("auto") != progress.None {
				fmt.Fprintf(a.err, "%s to play, %d at a time; %d are there already\n", plural(play, "run"), f.jobs, have)
			}
			live = progress.Count(a.err, a.progressMode("auto"), play)
		},
		OnCell: func(c scoreboard.Cell, n int) { left = n; live.Done(cellLine(c), n) },
	})
	live.Stop()
	if err != nil && ctx.Err() != nil {
		fmt.Fprintf(a.err, "%s left; the same command goes on from there\n", plural(left, "run"))
	}
	return board, err
}

func cellLine(c scoreboard.Cell) string {
	words := []string{c.Scenario, "on", c.Host + ":", string(c.Status)}
	for _, b := range c.Errors {
		words = append(words, b.Law)
	}
	if c.Again {
		words = append(words, "(played again alone)")
	}
	return strings.Join(append(words, c.Took.D().Round(100*time.Millisecond).String()), " ")
}

// command is what makes the board again.
func (f scoreFlags) command() []string {
	words := []string{"leakbench", "score", "--hosts", strings.Join(f.hosts, ","), "--scenarios", strings.Join(f.scenarios, ","), "--jobs", fmt.Sprint(f.jobs)}
	if f.seed != 1 {
		words = append(words, "--seed", fmt.Sprint(f.seed))
	}
	words = append(words, limitWords(f.settle, f.confirm, f.start)...)
	if !f.links {
		words = append(words, "--links=false")
	}
	for _, file := range f.out {
		words = append(words, "-o", file)
	}
	return words
}

// boardWriter is what writes a board as the file's name asks for, or nil.
func boardWriter(file string, link func(string) string) func(io.Writer, *scoreboard.Board) error {
	o := boards.Options{Link: link}
	switch strings.ToLower(filepath.Ext(file)) {
	case ".html", ".htm":
		return func(w io.Writer, b *scoreboard.Board) error { return boards.HTML(w, b, o) }
	case ".md":
		return func(w io.Writer, b *scoreboard.Board) error { return boards.Markdown(w, b, o) }
	case ".json":
		return boards.JSON
	}
	return nil
}

// writeScore prints the board and writes its files.
func (a *app) writeScore(b *scoreboard.Board, f scoreFlags) error {
	var err error
	if a.format == "json" {
		a.printed = true
		err = boards.JSON(a.out, b)
	} else {
		err = boards.Text(a.out, b)
	}
	for _, file := range f.out {
		if failed := writeBoard(b, file, f.links); failed != nil {
			err = errors.Join(err, usage(failed, "choose another file with -o"))
		}
	}
	return err
}

func writeBoard(b *scoreboard.Board, file string, links bool) error {
	var link func(string) string
	if links {
		link = func(page string) string { return relative(file, page) }
	}
	var text bytes.Buffer
	if err := boardWriter(file, link)(&text, b); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Clean(file), text.Bytes(), 0o644)
}

// relative is the address of a page as seen from a file, or "" where there is
// none: on another drive.
func relative(file, page string) string {
	from, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return ""
	}
	to, err := filepath.Abs(page)
	if err != nil {
		return ""
	}
	rel, err := filepath.Rel(from, to)
	if err != nil {
		return ""
	}
	return (&url.URL{Path: filepath.ToSlash(rel)}).String()
}
