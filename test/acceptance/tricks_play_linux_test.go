package acceptance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/test/judge2"
	"github.com/leakbench/leakbench/test/trickhost"
)

// answer is what the bench said of a run.
type trickAnswer struct {
	Outcome string
	Code    int
	Laws    []string
	Kinds   []string
	Doubts  []string
	Words   string // everything that is said of findings and doubts
	N       int    // findings
	Count   int    // what the first of them counts
	Prints  []string
	Dirs    []string // of the run, and of each part of one that was played once for each server
	Took    time.Duration
	Naive   []string // what the second judge calls left
	Unseen  bool     // it has seen nothing of the host
	Lives   []string // what lives on after the bench
	Raw     string
}

// short is an answer in a line, as the table's Today has it.
func (a trickAnswer) short() string {
	text := a.Outcome
	if len(a.Laws) > 0 {
		text += " " + strings.Join(a.Laws, "+") + " " + strings.Join(a.Kinds, "+")
	}
	if len(a.Doubts) > 0 {
		text += " (" + strings.Join(a.Doubts, ", ") + ")"
	}
	if a.Outcome == trickhost.Inconclusive && a.Code != 3 {
		text += fmt.Sprintf(" exit %d", a.Code)
	}
	if len(a.Lives) > 0 {
		text += ", and something lives on"
	}
	return text
}

// wrong says what is wrong with an answer, "" if nothing.
func (a trickAnswer) wrong(w trickhost.Want) string {
	switch {
	case w.Code > 0 && a.Code != w.Code:
		return fmt.Sprintf("exit %d, not %d", a.Code, w.Code)
	case w.Within > 0 && a.Took > w.Within:
		return fmt.Sprintf("took %v, more than %v", a.Took.Round(time.Second), w.Within)
	case len(a.Lives) > 0:
		return "something lives on: " + strings.Join(a.Lives, "; ")
	case a.Outcome == trickhost.Inconclusive && w.Outcome != a.Outcome:
		if w.Doubt {
			return ""
		}
		return "inconclusive, not " + w.Outcome
	case a.Outcome != w.Outcome:
		return a.Outcome + ", not " + w.Outcome
	case !slices.Equal(slices.DeleteFunc(slices.Clone(a.Laws), func(l string) bool { return slices.Contains(w.May, l) }), w.Laws):
		return fmt.Sprintf("laws %v, not %v", a.Laws, w.Laws)
	case len(w.Kinds) > 0 && !slices.Equal(a.Kinds, w.Kinds):
		return fmt.Sprintf("kinds %v, not %v", a.Kinds, w.Kinds)
	case w.Findings > 0 && a.N != w.Findings:
		return fmt.Sprintf("%d findings, not %d", a.N, w.Findings)
	}
	if w.Servers > 0 && a.Count != w.Servers {
		return fmt.Sprintf("counts %d, not %d", a.Count, w.Servers)
	}
	return a.wrongWords(w)
}

func (a trickAnswer) wrongWords(w trickhost.Want) string {
	for _, word := range w.Says {
		if !strings.Contains(strings.ToLower(a.Words), strings.ToLower(word)) {
			return fmt.Sprintf("nowhere %q", word)
		}
	}
	for _, word := range w.Never {
		if strings.Contains(strings.ToLower(a.Words), strings.ToLower(word)) {
			return fmt.Sprintf("somewhere %q", word)
		}
	}
	return ""
}

// is says whether an answer is right, and whether others on the machine can have made it.
func (a trickAnswer) is(w trickhost.Want) verdictIs {
	return verdictIs{
		right:   a.wrong(w) == "" && !a.disagrees(),
		certain: a.Outcome != trickhost.Inconclusive && len(a.Doubts) == 0 && !a.disagrees(),
		timed:   slices.ContainsFunc(a.Kinds, isTimed),
	}
}

// mayBe says that an answer under load is no false one: the right one, or
// inconclusive.
func (a trickAnswer) mayBe(w trickhost.Want) bool {
	return a.wrong(w) == "" || a.Outcome == trickhost.Inconclusive && len(a.Lives) == 0
}

// theBench is the binary that judges.
func theBench(t *testing.T) string {
	if other := os.Getenv(benchEnv); other != "" {
		return other
	}
	return built(t)
}

// trickProgram is the process of the tricks.
var trickProgram = builtBeside{pkg: "./test/trickhost/trick"}

// hostFile writes the host file of a trick, which is played by that program.
func hostFile(t *testing.T, program, trick, dir string) string {
	t.Helper()
	name := trickhost.Prefix + trick
	path := filepath.Join(dir, name+".yaml")
	text := fmt.Sprintf("name: %s\nabout: a trick\ncommand: [%q, %s]\ndrive: driver\n", name, program, name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

// scenarioArg is how a scenario of the table is named on a command line.
func scenarioArg(name string) string {
	if strings.HasSuffix(name, ".yaml") {
		return filepath.Join("testdata", "tricks", name)
	}
	return name
}

// playTrick plays a trick once, after `prefix`: a command that the bench runs below.
func playTrick(t *testing.T, k trickhost.Trick, prefix ...string) trickAnswer {
	t.Helper()
	dir := t.TempDir()
	if k.Command != nil {
		return playCommand(t, k, dir, prefix)
	}
	if k.Builtin != "" {
		return playBench(t, dir, prefix, "run", scenarioArg(k.Scenario), "--host", k.Builtin)
	}
	file := hostFile(t, trickProgram.path(t), k.Name, dir)
	return playBench(t, dir, prefix, "run", scenarioArg(k.Scenario), "--host", file)
}

// playCommand plays a host that is not driven, alone or in a host file.
func playCommand(t *testing.T, k trickhost.Trick, dir string, prefix []string) trickAnswer {
	t.Helper()
	var command []string
	for _, arg := range k.Command {
		command = append(command, strings.ReplaceAll(arg, "SELF", trickProgram.path(t)))
	}
	args := []string{"run", scenarioArg(k.Scenario), "--settle", "1.5s", "--confirm", "1s", "--start", "5s"}
	if k.HostFile == "" {
		return playBench(t, dir, prefix, slices.Concat(args, []string{"--"}, command)...)
	}
	text, err := json.Marshal(command)
	require.NoError(t, err)
	file := filepath.Join(dir, "command.yaml")
	lines := fmt.Sprintf("name: %s\nabout: a trick\ncommand: %s\ndrive: nothing\n%s", trickhost.Prefix+k.Name, text, k.HostFile)
	require.NoError(t, os.WriteFile(file, []byte(lines), 0o644))
	return playBench(t, dir, prefix, append(args, "--host", file)...)
}

// playBench runs the bench and reads what it says.
func playBench(t *testing.T, dir string, prefix []string, args ...string) trickAnswer {
	t.Helper()
	return playProgram(t, theBench(t), dir, prefix, args...)
}

func playProgram(t *testing.T, bench, dir string, prefix []string, args ...string) trickAnswer {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
	defer cancel()
	usual := []string{"--format", "json", "--progress", "none", "--seed", "1", "--out", filepath.Join(dir, "runs")}
	argv := slices.Concat(prefix, []string{bench}, args[:1], usual, args[1:])
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.WaitDelay = 5 * time.Second
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	second := judge2.Watch()
	begun := time.Now()
	err := cmd.Run()
	took := time.Since(begun)
	second.End()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%v: %v\n%s", argv, err, said.String())
	}
	a := readAnswer(t, out.Bytes(), said.String())
	a.Took, a.Code = took, cmd.ProcessState.ExitCode()
	for _, dir := range a.Dirs {
		saved, err := record.Read(dir)
		require.NoError(t, err)
		a.Naive = append(a.Naive, second.Left(saved)...)
		a.Unseen = a.Unseen || !second.Saw
	}
	a.Lives = livesOn()
	return a
}

func readAnswer(t *testing.T, out []byte, said string) trickAnswer {
	t.Helper()
	var all struct {
		Outcome string `json:"outcome"`
		Runs    []struct {
			Outcome  string            `json:"outcome"`
			Findings []json.RawMessage `json:"findings"`
			Doubts   []struct {
				Code string `json:"code"`
				Text string `json:"text"`
			} `json:"doubts"`
			Dir string `json:"dir"`
		} `json:"runs"`
	}
	if json.Unmarshal(out, &all) != nil || len(all.Runs) == 0 {
		return trickAnswer{Outcome: "none", Words: said, Raw: string(out) + said}
	}
	run, dirs := all.Runs[0], []string{all.Runs[0].Dir}
	for _, part := range all.Runs[1:] { // of a host that is given one server at a time
		run.Outcome, dirs = all.Outcome, append(dirs, part.Dir)
		run.Findings, run.Doubts = append(run.Findings, part.Findings...), append(run.Doubts, part.Doubts...)
	}
	a := trickAnswer{Outcome: run.Outcome, Dirs: dirs, N: len(run.Findings), Raw: string(out)}
	for _, raw := range run.Findings {
		var f struct {
			Law, Kind, Fingerprint string
			Count                  int
		}
		require.NoError(t, json.Unmarshal(raw, &f))
		a.Laws, a.Kinds, a.Prints = append(a.Laws, f.Law), append(a.Kinds, f.Kind), append(a.Prints, f.Fingerprint)
		if a.Words += string(raw) + "\n"; a.Count == 0 {
			a.Count = f.Count
		}
	}
	for _, d := range run.Doubts {
		a.Doubts = append(a.Doubts, d.Code)
		a.Words += d.Code + ": " + d.Text + "\n"
	}
	for _, list := range []*[]string{&a.Laws, &a.Kinds, &a.Doubts} {
		sort.Strings(*list)
		*list = slices.Compact(*list)
	}
	return a
}

// livesOn names the processes of tricks that are still there and have nobody
// but the system for a parent.
func livesOn() (all []string) {
	for range 20 {
		all = nil
		for _, p := range judge2.Look() {
			line := strings.ReplaceAll(p.Line, "\x00", " ")
			if p.Parent == 1 && !p.Dead && (strings.Contains(line, "leakbench-trick;") || strings.Contains(line, program.dir)) {
				all = append(all, fmt.Sprintf("pid %d: %.80s", p.PID(), line))
			}
		}
		if len(all) == 0 {
			return nil
		}
		time.Sleep(50 * time.Millisecond) // sleep-ok: what is on its way out sends no word
	}
	return all
}
