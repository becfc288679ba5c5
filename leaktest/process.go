package leaktest

import (
	"context"
	"os"
	"regexp"
	"strings"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/kit"
)

// driverEnv names the test whose host a test binary is.
const driverEnv = "LEAKTEST_DRIVER"

// conversation is the stdout of a test binary that is a host. What else is printed there goes to stderr.
var conversation *os.File

// The test binary is started again as the host of a test.
func init() {
	if os.Getenv(driverEnv) != "" {
		conversation, os.Stdout = os.Stdout, os.Stderr
	}
}

// separate is how this test is started in a process of its own, below a keeper. In that process it is the driver, and does not return.
func separate(t TB, h driver.Handler) *kit.Driver {
	if os.Getenv(driverEnv) == t.Name() {
		err := driver.Serve(context.Background(), os.Stdin, conversation, driver.Hello{Host: t.Name()}, h)
		if err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatalf("leaktest: %v", err)
	}
	return &kit.Driver{Argv: []string{self, "-test.run=" + only(t.Name()), "-test.count=1"}, Env: []string{driverEnv + "=" + t.Name()}}
}

// only is a pattern for one test, and for what it is a part of.
func only(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	return strings.Join(parts, "/")
}
