package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/leakbench/leakbench/test/corpus"
)

// cases are the special cases of the judge. A line: package, function, the statement that stands for its body, how many runs are judged in
// another way with it, and one of these runs, or why there is none.
const cases = "tools/corpus/cases.tsv"

type ablation struct {
	pkg, function, statement string
	runs                     int
	note                     string
}

// ablate switches the cases off, one at a time. It fails where one is held that is said not to be, or the other way round.
func ablate(args []string) error {
	update := len(args) > 0 && args[0] == "-update"
	if update {
		args = args[1:]
	}
	all, err := readCases()
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.FromSlash(corpus.Verdicts))
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "ablate-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var wg sync.WaitGroup
	failures, turns := make([]error, len(all)), make(chan struct{}, 2)
	for i := range all {
		if len(args) > 0 && !slices.Contains(args, all[i].function) {
			continue
		}
		wg.Go(func() {
			turns <- struct{}{}
			failures[i] = all[i].play(filepath.Join(dir, strconv.Itoa(i)), string(text), update)
			<-turns
		})
	}
	wg.Wait()
	err = errors.Join(failures...)
	if update && err == nil {
		return writeCases(all)
	}
	return err
}

// play judges the corpus without a case.
func (a *ablation) play(dir, want string, update bool) error {
	err := os.Mkdir(dir, 0o755)
	file, text, err2 := a.without()
	if err = errors.Join(err, err2); err != nil {
		return err
	}
	env, err := overlaid(dir, map[string]string{file: text})
	if err != nil {
		return err
	}
	tests, said := filepath.Join(dir, "tests"), filepath.Join(dir, "verdicts.txt")
	build := exec.Command("go", "test", "-c", "-vet=off", "-o", tests, "./"+path.Dir(path.Dir(corpus.Runs)))
	build.Env = env
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", a.function, err, out)
	}
	judge := exec.Command(tests, "-test.run", "^TestCorpus$", "-test.timeout", "5m", "-update", "-verdicts", said)
	judge.Dir = filepath.FromSlash(path.Dir(path.Dir(corpus.Runs)))
	changed := []string{"the judge does not end or panics"}
	if out, err := judge.CombinedOutput(); err == nil {
		came, err := os.ReadFile(said)
		if err != nil {
			return err
		}
		changed = differences(want, string(came))
	} else if !bytes.Contains(out, []byte("panic: ")) {
		return fmt.Errorf("%s: %w\n%s", a.function, err, out)
	}
	fmt.Printf("%3d %s %s: %s\n", len(changed), a.pkg, a.function, strings.Join(changed[:min(len(changed), 12)], " "))
	held := a.runs > 0
	a.runs = len(changed)
	if update {
		if a.runs > 0 {
			a.note = changed[0]
		}
		return nil
	}
	if held != (a.runs > 0) {
		return fmt.Errorf("%s: %d runs are judged in another way without it; see %s, or ablate -update", a.function, a.runs, cases)
	}
	return nil
}

// differences are the runs that are judged in another way, those that were played first.
func differences(want, came string) (names []string) {
	said := map[string]string{}
	for name, text := range corpus.Blocks(came) {
		said[name] = text
	}
	for name, text := range corpus.Blocks(want) {
		if said[name] != text {
			names = append(names, name)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Compare(strings.Count(byTest.FindString(a), "."), strings.Count(byTest.FindString(b), "."))
	})
	return names
}

// without is the file that has the function, with the statement in the place of its body.
func (a *ablation) without() (file, text string, err error) {
	files, err := filepath.Glob(filepath.Join(filepath.FromSlash(a.pkg), "*.go"))
	if err != nil {
		return "", "", err
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		text, err := os.ReadFile(name)
		if err != nil {
			return "", "", err
		}
		tree, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
		if err != nil {
			return "", "", err
		}
		for _, d := range tree.Decls {
			if f, is := d.(*ast.FuncDecl); is && f.Name.Name == a.function {
				at := set.Position(f.Body.Lbrace).Offset + 1
				return filepath.ToSlash(name), string(text[:at]) + " if true { " + a.statement + " }\n" + string(text[at:]), nil
			}
		}
	}
	return "", "", fmt.Errorf("%s has no function %s", a.pkg, a.function)
}

func readCases() (all []ablation, err error) {
	text, err := os.ReadFile(filepath.FromSlash(cases))
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		cell := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(cell) != 5 {
			return nil, fmt.Errorf("%s: %q has %d cells", cases, line, len(cell))
		}
		n, err := strconv.Atoi(cell[3])
		if err != nil {
			return nil, err
		}
		all = append(all, ablation{cell[0], cell[1], cell[2], n, cell[4]})
	}
	return all, nil
}

func writeCases(all []ablation) error {
	var b strings.Builder
	for _, a := range all {
		fmt.Fprintf(&b, "%s\t%s\t%s\t%d\t%s\n", a.pkg, a.function, a.statement, a.runs, a.note)
	}
	return os.WriteFile(filepath.FromSlash(cases), []byte(b.String()), 0o644)
}
