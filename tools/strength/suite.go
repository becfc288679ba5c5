package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// suite is the tests of a package, built with all mutants.
type suite struct {
	dir, binary string // where the tests run
	limit       time.Duration
	tests       []*test // the quick ones first
	reached     map[int]bool
}

// test is one of them: what it took, and the mutants that it reached.
type test struct {
	name    string
	took    time.Duration
	reached map[int]bool
}

// newSuite plays the tests unchanged, each alone: how long it takes, and which mutants it reaches.
func newSuite(tree, pkg, overlay, binary string) (*suite, error) {
	s := &suite{dir: filepath.Join(tree, pkg), binary: binary, limit: 10 * time.Minute, reached: map[int]bool{}}
	overlay, err := withMain(pkg, overlay, binary)
	if err != nil {
		return nil, err
	}
	if _, err := command("go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", binary, "./"+pkg); err != nil {
		return nil, err
	}
	if _, err := os.Stat(binary); err != nil {
		return s, nil // it has no test
	}
	names, err := command(binary, "-test.list=.")
	if err != nil {
		return nil, err
	}
	limit := 10 * time.Second
	out, err := s.play("reach", strings.Join(strings.Fields(string(names)), "\n"))
	for _, line := range out {
		fields := strings.Fields(line)
		took, _ := time.ParseDuration(fields[1])
		one := &test{name: fields[0], took: took, reached: map[int]bool{}}
		for _, n := range fields[2:] {
			i, _ := strconv.Atoi(n)
			one.reached[i], s.reached[i] = true, s.reached[i] || took <= most
		}
		if took <= most {
			s.tests, limit = append(s.tests, one), max(limit, 10*time.Second+10*took)
		}
	}
	s.limit = limit
	slices.SortStableFunc(s.tests, func(a, b *test) int { return int(a.took - b.took) })
	return s, err
}

// withMain puts a main function beside the tests, which plays many mutants in one process.
func withMain(pkg, overlay, binary string) (string, error) {
	list, err := command("go", "list", "-json=Name,Dir", "./"+pkg)
	if err != nil {
		return "", err
	}
	var p struct{ Name, Dir string }
	text, err2 := os.ReadFile(overlay)
	var files struct{ Replace map[string]string }
	if err := errors.Join(err2, json.Unmarshal(list, &p), json.Unmarshal(text, &files)); err != nil {
		return "", err
	}
	files.Replace[filepath.Join(p.Dir, "strength_main_test.go")] = binary + ".main.go"
	text, err = json.Marshal(files)
	return binary + ".json", errors.Join(err, os.WriteFile(binary+".json", text, 0o600),
		os.WriteFile(binary+".main.go", []byte("package "+p.Name+"\n"+testMain), 0o600))
}

// playAll notes which mutants are noticed. A process plays many of them. Where one ends it, or takes too long, or too much memory, it
// is noticed, and another process goes on.
func (s *suite) playAll(asked []int, killed []bool, jobs int) error {
	var all sync.WaitGroup
	failures := make([]error, jobs)
	for job := range jobs {
		var mine []int
		for k := job; k < len(asked); k += jobs {
			mine = append(mine, asked[k])
		}
		all.Go(func() { failures[job] = s.playSome(mine, killed) })
	}
	all.Wait()
	return errors.Join(failures...)
}

func (s *suite) playSome(mine []int, killed []bool) error {
	for len(mine) > 0 {
		var plan []string
		for _, i := range mine {
			plan = append(plan, strconv.Itoa(i)+" "+strings.Join(s.reaching(i), " "))
		}
		out, err := s.play("mutants", strings.Join(plan, "\n"))
		for _, line := range out {
			i, _ := strconv.Atoi(strings.Fields(line)[0])
			if strings.HasSuffix(line, " unsure") {
				return fmt.Errorf("a test of %s fails without a change: %s", s.dir, line)
			}
			killed[i] = strings.HasSuffix(line, " noticed")
			mine = mine[1:]
		}
		ended := (*exec.ExitError)(nil)
		switch {
		case len(mine) == 0:
		case errors.As(err, &ended):
			killed[mine[0]], mine = true, mine[1:]
		case err != nil: // which is not a mutant's doing
			return err
		default:
			return fmt.Errorf("the tests of %s ended with %d changes to play", s.dir, len(mine))
		}
	}
	return nil
}

func (s *suite) reaching(i int) (names []string) {
	for _, t := range s.tests {
		if t.reached[i] {
			names = append(names, t.name)
		}
	}
	return names
}

// play has a process do what a plan says, and returns the lines that it wrote.
func (s *suite) play(mode, plan string) (lines []string, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	const run = `ulimit -v 8000000; exec "$0" "$@"`
	cmd := exec.CommandContext(ctx, "sh", "-c", run, s.binary, "-test.short", "-test.timeout="+s.limit.String())
	cmd.Dir, cmd.WaitDelay = s.dir, time.Second
	cmd.Stdin = strings.NewReader(plan)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	cmd.ExtraFiles = []*os.File{w}
	cmd.Env = append(os.Environ(), "STRENGTH=-1", "STRENGTH_MODE="+mode, "GOMAXPROCS=2", "GOGC=400")
	err = cmd.Start()
	w.Close()
	if err != nil {
		return nil, err
	}
	in := bufio.NewScanner(r)
	in.Buffer(nil, maxLine)
	for in.Scan() {
		lines = append(lines, in.Text())
	}
	r.Close() // who writes on after a line that is too long must not wait for a reader
	if err := cmd.Wait(); err != nil {
		return lines, fmt.Errorf("%s: %w\n%s", mode, cmp.Or(in.Err(), err), tail(said.String()))
	}
	return lines, in.Err()
}

// maxLine is more than a line takes that names all mutants of a package, in bytes.
const maxLine = 1 << 20

func tail(text string) string { return text[max(0, len(text)-4000):] }
