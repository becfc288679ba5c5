package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"github.com/leakbench/leakbench/internal/reexec"
	"github.com/leakbench/leakbench/internal/reexec/reexectest"
	"github.com/leakbench/leakbench/internal/tier"
	"github.com/leakbench/leakbench/report"
)

// usedEnv names the folder in which each fake leaves a mark when it is used.
const usedEnv = "LEAKBENCH_TEST_USED"

// leakChecked fails a green run that leaves goroutines or unused fakes.
type leakChecked struct {
	m    *testing.M
	used string // where each fake that runs leaves its name
	own  string // the same folder, where this process made it
}

func (l leakChecked) Run() int {
	defer os.RemoveAll(l.own)
	perProcessor := 4
	if raced {
		perProcessor = 2 // what waits without the race detector computes with it, and some verdicts go by the clock
	}
	reexectest.MostlyWaits(perProcessor)
	code := l.m.Run()
	if code != 0 {
		return code
	}
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	only := flag.Lookup("test.run").Value.String()
	if all := only == "" || strings.Contains(only, "TestScripts|") || strings.Contains(only, "TestScripts)"); !all || !tier.Plays(tier.Scripts) {
		return 0
	}
	for name := range fakes {
		if _, err := os.Stat(filepath.Join(l.used, name)); err != nil {
			fmt.Fprintf(os.Stderr, "no script uses the fake host %q: use it or drop it\n", name)
			code = 1
		}
	}
	return code
}

func commandNames() (names []string) {
	for _, c := range (&app{}).root().Commands() {
		names = append(names, c.Name())
	}
	return names
}

func TestMain(m *testing.M) {
	// The program executes itself by its path, which is that of the test
	// binary, whatever name a script called it by.
	if status, ok := reexec.Main(os.Args); ok {
		os.Exit(status)
	}
	if len(os.Args) > 1 && slices.Contains(commandNames(), os.Args[1]) { // for tests that start a bench as a process of its own
		os.Exit(run(os.Args))
	}
	// Under the race detector each process sleeps a second at its exit otherwise.
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0")
	for _, ci := range report.CISystems() { // what the tests start writes what it writes anywhere, also where CI runs them
		_ = os.Unsetenv(ci.Variable)
	}
	commands := map[string]func(){"leakbench": main}
	for name, fake := range fakes {
		commands[name] = func() {
			if dir := os.Getenv(usedEnv); dir != "" {
				_ = os.WriteFile(filepath.Join(dir, name), nil, 0o644)
			}
			os.Exit(fake(os.Args[1:]))
		}
	}
	_, known := commands[filepath.Base(os.Args[0])]
	if !known && len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		fmt.Fprintf(os.Stderr, "the test binary is not leakbench %s: TestMain has to know it\n", os.Args[1])
		os.Exit(1) // else it would run all tests, this one among them
	}
	if known { // a script runs it, and does not come back here
		testscript.Main(m, commands)
	}
	used, err := os.MkdirTemp("", "leakbench-used")
	if err != nil {
		panic(err)
	}
	if os.Getenv(usedEnv) == "" {
		os.Setenv(usedEnv, used)
	}
	testscript.Main(leakChecked{m: m, used: os.Getenv(usedEnv), own: used}, commands)
}

func TestScripts(t *testing.T) {
	t.Parallel()
	repository, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "../../testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv(usedEnv, os.Getenv(usedEnv))
			env.Setenv("NO_COLOR", "1")
			env.Setenv("REPOSITORY", repository)
			env.Setenv("START", (time.Second * timeScale).String()) // in which a host that is not the bench's comes up
			env.Setenv("GORACE", os.Getenv("GORACE"))
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name == "long" {
				return tier.Plays(tier.Scripts), nil
			}
			return condition(name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": status, "nothing-left": nothingLeft, "same-gate": sameGate, "valid-report": validReport,
		},
	})
}

// condition is what a script may ask of the machine beyond what testscript knows.
func condition(name string) (bool, error) {
	if name != "pid-namespace" {
		return false, fmt.Errorf("unknown condition %q", name)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "unshare", "-Urmpf", "--mount-proc", "true")
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if err != nil && os.Getenv("LEAKBENCH_REQUIRE") == "all" {
		return false, fmt.Errorf("LEAKBENCH_REQUIRE=all, and no PID namespace can be made: %w", err)
	}
	return err == nil, nil
}

// status runs a command and checks its exit code: status 3 leakbench run ...
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status CODE COMMAND ARGS...")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		got = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if got != args[0] {
		ts.Fatalf("%s: exit status %s, want %s", strings.Join(args[1:], " "), got, args[0])
	}
}

// nothingLeft checks that no process has the script's folder, or the run's, in its command line. "nothing-left soon" is for what a
// host that leakbench has not started leaves: its servers end by themselves, after it.
func nothingLeft(ts *testscript.TestScript, neg bool, args []string) {
	soon := len(args) == 1 && args[0] == "soon"
	if neg || len(args) > 0 && !soon {
		ts.Fatalf("usage: nothing-left [soon]")
	}
	left := leftIn(ts.Getenv("WORK"))
	for deadline := time.Now().Add(20 * time.Second); soon && left != "" && time.Now().Before(deadline); left = leftIn(ts.Getenv("WORK")) {
		time.Sleep(20 * time.Millisecond) // sleep-ok: the end of a process that is not our child sends no word
	}
	if left != "" {
		ts.Fatalf("%s", left)
	}
}

// leftIn says which process has a folder in its command line or works in it, or "".
func leftIn(work string) string {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return "" // no /proc: the Linux run of the suite checks it
	}
	for _, e := range entries {
		if !slices.ContainsFunc([]byte(e.Name()), func(c byte) bool { return c < '0' || c > '9' }) {
			line, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
			dir, _ := os.Readlink(filepath.Join("/proc", e.Name(), "cwd"))
			if strings.HasPrefix(dir+"/", work+"/") || bytes.Contains(line, []byte(work+"/")) || bytes.Contains(line, []byte(work+"\x00")) {
				return fmt.Sprintf("pid %s is left: %q", e.Name(), strings.ReplaceAll(string(line), "\x00", " "))
			}
		}
	}
	return ""
}

// execute is (*app).execute for a test of its own.
func execute(args []string, out, errOut io.Writer) int {
	a := &app{out: out, err: errOut}
	return a.execute(a.root(), args)
}
