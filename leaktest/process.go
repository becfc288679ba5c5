package leaktest

import (
	"context"
	"errors"
	"os"
	"regexp"
	"strings"

	"github.com/leakbench/leakbench/driver"
	_ "github.com/leakbench/leakbench/fakeserver" // the test binary is also the fake server: dispatched in its init
	"github.com/leakbench/leakbench/internal/observe/keeper"
	"github.com/leakbench/leakbench/internal/play/lab"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject"
	"github.com/leakbench/leakbench/scenarios"
)

// driverEnv names the test whose host a test binary is.
const driverEnv = "LEAKTEST_DRIVER"

// conversation is the stdout of a test binary that is a host. What else is printed there goes to stderr.
var conversation *os.File

// The test binary is started again as a keeper, or as the host of a test. No flag of package testing is called so.
func init() {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "keeper":
			os.Exit(keeper.Main(os.Args[2:]))
		case "bystander":
			os.Exit(keeper.Bystander())
		}
	}
	if os.Getenv(driverEnv) != "" {
		conversation, os.Stdout = os.Stdout, os.Stderr
	}
}

// separate plays a scenario against this test in a process of its own, below a keeper. In that process it is the driver.
func separate(t TB, s *scenarios.Scenario, h driver.Handler, o Options) error {
	if os.Getenv(driverEnv) == t.Name() {
		err := driver.Serve(context.Background(), os.Stdin, conversation, driver.Hello{Host: t.Name()}, h)
		if err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	p := params(t, o)
	spec := subject.Spec{
		Name: t.Name(), About: "a test, in a process of its own", Kind: record.KindDriver,
		Argv: []string{p.Self, "-test.run=" + only(t.Name()), "-test.count=1"}, Env: []string{driverEnv + "=" + t.Name()},
		Profile: lab.Host(t.Name()).Profile,
	}
	if s.Place != "" {
		return errors.New("scenario " + s.Name + " asks for a place of its own, which a test cannot have: use leakbench run")
	}
	return lab.Play(t.Context(), p, s, spec, nil)
}

// only is a pattern for one test, and for what it is a part of.
func only(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	return strings.Join(parts, "/")
}
