// Command strength says how many changes to the code of a package its own tests notice. It plays each change alone: a statement left
// out, a result zeroed, a condition forced, a limit moved. A change that no test notices and that equivalent.txt does not explain is
// printed, and fails the command where fewer than 92 % of a package's changes are noticed. So does an explanation that is stale.
//
//	go run ./tools/strength [-v] [-only regexp] [package folder ...]
package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

// core are the packages that decide, in which a change may turn a leak into clean.
var core = []string{
	"internal/history", "internal/judge/facts", "internal/judge/doubts", "internal/judge/verdict", "internal/judge/gate",
	"internal/judge/compare", "internal/judge/known", "internal/judge/attach", "internal/judge/rows",
	"internal/play/bisect", "scenarios",
}

// least is the part of the changes that the tests of a package have to notice.
const least = 0.92

// most is how long a test may take to be asked.
var most time.Duration

// only is what a mutant is called that is played.
var only *regexp.Regexp

// Each line: the mutant as it is printed, " | ", and why it changes nothing that could be noticed.
//
//go:embed equivalent.txt
var explained string

func main() {
	verbose := flag.Bool("v", false, "say of each change what came of it")
	flag.DurationVar(&most, "most", time.Hour, "ask no test that takes longer than this")
	jobs := flag.Int("jobs", max(1, runtime.NumCPU()/2), "changes to play at a time")
	pattern := flag.String("only", "", "play the changes whose line matches this regular expression, and judge nothing by it")
	flag.Parse()
	only = regexp.MustCompile(*pattern)
	packages := flag.Args()
	if len(packages) == 0 {
		packages = core
	}
	strong, err := judgeAll(packages, *jobs, *verbose)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "strength:", err)
		os.Exit(2)
	case !strong:
		os.Exit(1)
	}
}

// explanations are the lines of equivalent.txt: the reasons by package and mutant. One that is of none of the packages
// would never be held against the code.
func explanations() (map[string]map[string]string, error) {
	reasons := map[string]map[string]string{}
	for line := range strings.Lines(explained) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, why, _ := strings.Cut(line, " | ")
		file, _, _ := strings.Cut(name, " ")
		pkg := path.Dir(file)
		switch {
		case strings.TrimSpace(why) == "":
			return nil, fmt.Errorf("equivalent.txt gives no reason: %s", line)
		case !slices.Contains(core, pkg):
			return nil, fmt.Errorf("a stale explanation, of none of the packages that are played: %s", line)
		case reasons[pkg][name] != "":
			return nil, fmt.Errorf("equivalent.txt explains it twice: %s", line)
		case reasons[pkg] == nil:
			reasons[pkg] = map[string]string{}
		}
		reasons[pkg][name] = why
	}
	return reasons, nil
}

// judgeAll says that the tests of each package notice enough.
func judgeAll(packages []string, jobs int, verbose bool) (strong bool, err error) {
	reasons, err := explanations()
	if err != nil {
		return false, err
	}
	tree, err := os.MkdirTemp("", "strength")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(tree)
	if err := copyTree(tree); err != nil {
		return false, err
	}
	strong = true
	for _, pkg := range packages {
		enough, err := judge(tree, filepath.ToSlash(filepath.Clean(pkg)), reasons, jobs, verbose)
		if err != nil {
			return false, fmt.Errorf("%s: %w", pkg, err)
		}
		strong = strong && enough
	}
	return strong, nil
}

// copyTree copies the files of the repository into a folder, in which the tests run: a mutant may write anywhere.
func copyTree(dir string) error {
	list, err := command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return err
	}
	for _, name := range strings.Split(strings.Trim(string(list), "\x00"), "\x00") {
		text, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it was taken out, and that is not committed yet
		}
		if err == nil {
			err = os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755)
		}
		if err := errors.Join(err, os.WriteFile(filepath.Join(dir, name), text, 0o644)); err != nil {
			return err
		}
	}
	return nil
}

// judge plays the mutants of a package and says what came of them.
func judge(tree, pkg string, reasons map[string]map[string]string, jobs int, verbose bool) (bool, error) {
	dir, err := os.MkdirTemp("", "strength")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	overlay, mutants, err := mutate(pkg, dir)
	if err != nil {
		return false, err
	}
	tests, err := newSuite(tree, pkg, overlay, filepath.Join(dir, "tests"))
	if err != nil {
		return false, err
	}
	asked, reached, killed := []int{}, []int{}, make([]bool, len(mutants))
	for i := range mutants {
		if only.MatchString(mutants[i].String()) {
			asked = append(asked, i)
			if tests.reached[i] {
				reached = append(reached, i)
			}
		}
	}
	if err := tests.playAll(reached, killed, jobs); err != nil {
		return false, err
	}
	maps.DeleteFunc(reasons[pkg], func(name, _ string) bool { return !only.MatchString(name) })
	return tell(pkg, mutants, asked, reasons[pkg], killed, tests.reached, verbose), nil
}

func tell(pkg string, mutants []mutant, asked []int, reasons map[string]string, killed []bool, reached map[int]bool, verbose bool) bool {
	noticed, equivalent := 0, 0
	for _, i := range asked {
		m := mutants[i]
		why, is := reasons[m.String()]
		delete(reasons, m.String())
		switch {
		case is && killed[i]:
			fmt.Println("explained, but noticed:", m)
			reasons[m.String()] = why
		case killed[i]:
			noticed++
		case is:
			equivalent++
		case !reached[i]:
			fmt.Println("not reached:", m)
		default:
			fmt.Println("not noticed:", m)
		}
		if verbose && killed[i] {
			fmt.Println("noticed:", m)
		}
	}
	for name := range reasons {
		fmt.Println("a stale explanation:", name)
	}
	of := len(asked) - equivalent
	part := float64(noticed) / float64(max(1, of))
	fmt.Printf("%s: %d of %d changes noticed (%.1f %%), %d more change nothing\n", pkg, noticed, of, 100*part, equivalent)
	return part >= least && len(reasons) == 0
}

// mutate writes the mutants of a package, and the overlay that puts them in the place of its files.
func mutate(pkg, dir string) (file string, mutants []mutant, err error) {
	list, err := command("go", "list", "-json=Name,Dir,GoFiles,ImportPath", "./"+pkg)
	if err != nil {
		return "", nil, err
	}
	var p struct {
		Name, Dir, ImportPath string
		GoFiles               []string
	}
	if err := json.Unmarshal(list, &p); err != nil {
		return "", nil, err
	}
	set, trees, sources := token.NewFileSet(), []*ast.File{}, []string{}
	for _, name := range p.GoFiles {
		src, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			return "", nil, err
		}
		tree, err := parser.ParseFile(set, name, src, parser.SkipObjectResolution)
		if err != nil {
			return "", nil, err
		}
		trees, sources = append(trees, tree), append(sources, string(src))
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	imports, err := importsOf(set, "./"+pkg)
	if err != nil {
		return "", nil, err
	}
	if _, err := (&types.Config{Importer: imports}).Check(p.ImportPath, set, trees, info); err != nil {
		return "", nil, err
	}
	overlay := map[string]string{}
	put := func(name, text string) error {
		overlay[filepath.Join(p.Dir, name)] = filepath.Join(dir, name)
		return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)
	}
	m := mutator{info: info, seen: map[string]int{}}
	for i, tree := range trees {
		if err := put(p.GoFiles[i], m.mutate(set, tree, pkg+"/"+p.GoFiles[i], sources[i])); err != nil {
			return "", nil, err
		}
	}
	if err := put("strength_switch.go", "package "+p.Name+"\n"+support); err != nil {
		return "", nil, err
	}
	text, err := json.Marshal(map[string]any{"Replace": overlay})
	file = filepath.Join(dir, "overlay.json")
	return file, m.mutants, errors.Join(err, os.WriteFile(file, text, 0o600))
}

// importsOf reads what a package imports from what the compiler has made of it.
func importsOf(set *token.FileSet, pkg string) (types.Importer, error) {
	list, err := command("go", "list", "-deps", "-export", "-f", "{{.ImportPath}}={{.Export}}", pkg)
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for line := range strings.Lines(string(list)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "=")
		files[path] = file
	}
	return importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) }), nil
}

func command(name string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.WaitDelay = time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", strings.Join(slices.Insert(args, 0, name), " "), err, stderr.String())
	}
	return out, nil
}
