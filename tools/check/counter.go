package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/text"
)

// counts are of tests without subtests.
type counts struct{ passed, skipped, failed int }

func (c counts) String() string {
	if c == (counts{}) {
		return ""
	}
	said := text.Count(c.passed, "test")
	if c.skipped > 0 {
		said += fmt.Sprintf(", %d skipped", c.skipped)
	}
	if c.failed > 0 {
		said += fmt.Sprintf(", %d failed", c.failed)
	}
	return said
}

// counter reads what `go test -json` writes, passes on what a person reads, and counts.
type counter struct {
	to     io.Writer
	counts counts
	rest   []byte
	quiet  map[testName][]string // of each test that is under way: what it has said
	parent map[testName]bool     // the tests that have subtests
	failed map[testName]bool     // the tests that have failed, and with no name the packages
	bug    bool                  // something was said that no second try makes good
}

// noChance is said where a test failed by no chance.
var noChance = regexp.MustCompile(`WARNING: DATA RACE|^panic: `)

// testName is a test, with its subtest, of a package.
type testName struct{ pkg, test string }

func (c *counter) Write(p []byte) (int, error) {
	c.rest = append(c.rest, p...)
	for {
		line, rest, found := bytes.Cut(c.rest, []byte("\n"))
		if !found {
			return len(p), nil
		}
		c.line(line)
		c.rest = rest
	}
}

// Close passes on what has no end of line.
func (c *counter) Close() {
	if len(c.rest) > 0 {
		c.line(c.rest)
	}
}

// line keeps what a test says until it is known whether it passes: the log of a red group is what failed.
func (c *counter) line(line []byte) {
	var e struct{ Action, Package, Test, Output string }
	if json.Unmarshal(line, &e) != nil || e.Action == "" {
		fmt.Fprintf(c.to, "%s\n", line)
		return
	}
	if c.quiet == nil {
		c.quiet, c.parent, c.failed = map[testName][]string{}, map[testName]bool{}, map[testName]bool{}
	}
	key := testName{e.Package, e.Test}
	c.bug = c.bug || e.Action == "build-output" || noChance.MatchString(e.Output)
	switch {
	case e.Action == "output" && e.Test != "":
		c.quiet[key] = append(c.quiet[key], e.Output)
	case e.Action == "output" || e.Action == "build-output":
		fmt.Fprint(c.to, e.Output)
	case e.Test != "":
		c.ended(key, e.Action)
	case e.Action == "fail": // a test that never ended may be why
		c.failed[key] = true
		c.tellAll(e.Package)
	}
}

// tellAll passes on what was said by the tests of a package that have not ended.
func (c *counter) tellAll(pkg string) {
	for under := range c.quiet {
		if under.pkg == pkg {
			c.bug = true
			c.tell(under)
		}
	}
}

// ended counts a test that has ended.
func (c *counter) ended(key testName, how string) {
	if i := strings.LastIndex(key.test, "/"); i >= 0 {
		c.parent[testName{key.pkg, key.test[:i]}] = true
	}
	one := 1
	if c.parent[key] {
		one = 0
	}
	switch how {
	case "pass":
		c.counts.passed += one
	case "skip":
		c.counts.skipped += one
	case "fail":
		c.counts.failed += one
		c.failed[key] = true
		c.tell(key)
	default:
		return
	}
	delete(c.quiet, key)
}

// tell passes on what a test has said.
func (c *counter) tell(key testName) {
	for _, said := range c.quiet[key] {
		fmt.Fprint(c.to, said)
	}
	delete(c.quiet, key)
}

// mostAgain is how many tests of a group may be played a second time: more are no chance.
const mostAgain = 3

// again are the failed tests that a second try may clear: none where something failed that is no single test, where a race or a panic was
// met, or where too many failed.
func (c *counter) again() []testName {
	var tests []testName
	for failed := range c.failed {
		within := func(name testName) bool {
			return name.pkg == failed.pkg && name != failed && (failed.test == "" || strings.HasPrefix(name.test, failed.test+"/"))
		}
		if inner := slices.ContainsFunc(slices.Collect(maps.Keys(c.failed)), within); !inner {
			tests = append(tests, failed)
		}
	}
	noTest := func(name testName) bool { return name.test == "" }
	if c.bug || len(tests) > mostAgain || slices.ContainsFunc(tests, noTest) {
		return nil
	}
	slices.SortFunc(tests, func(a, b testName) int { return cmp.Or(cmp.Compare(a.pkg, b.pkg), cmp.Compare(a.test, b.test)) })
	return tests
}

// pattern is the test as -run takes it, between single quotes of bash.
func (n testName) pattern() string {
	parts := strings.Split(n.test, "/")
	for i, part := range parts {
		parts[i] = "^" + strings.ReplaceAll(regexp.QuoteMeta(part), "'", ".") + "$"
	}
	return strings.Join(parts, "/")
}
