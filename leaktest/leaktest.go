// Package leaktest finds leaked processes in Go tests: what goleak does for goroutines, for the servers that a program
// launches.
//
//	func TestMain(m *testing.M) { leaktest.VerifyTestMain(m) } // no test leaves a process
//
//	func TestReconnect(t *testing.T) {
//		leaktest.Storm(t, func(ctx context.Context, argv []string) (io.Closer, error) {
//			return mypackage.Connect(ctx, argv[0], argv[1:]...) // your client, in this process
//		})
//	}
//
// Storm and Run play a scenario of leakbench against a client in the process of the test: fake MCP servers misbehave on
// cue, and each law that the client breaks fails the test, with the reason, and with a page in the test's artifact
// directory.
//
// The fake servers are the leakbench program, which is not part of the test binary. This package imports the standard library alone, so it
// adds no other module to go.mod. The first test that needs the program builds it with go run, from the version that go.mod requires. That
// takes up to a minute, may download modules, and is announced on stderr. Afterwards the program is in the build cache. For a machine
// without network or without Go, set LEAKBENCH_BINARY to the path of a program.
//
// Some clients reconnect in a call, so Storm calls tools: by a method of the client such as mcp-go's and go-sdk's CallTool, or by
// Options.Call. docs/use/testing.md lists the methods.
//
// Tests may run in parallel. Each has a ledger of its own, on which its servers report their births and deaths, and its
// name is in the servers' command lines. What a law says of the end of a host can't be judged from inside of it: with
// Options.Separate, Run starts the test binary again as a host of its own.
//
// On Linux all of this is seen. On macOS a server that left the process tree is seen by the ledger alone.
package leaktest

import (
	"context"
	"errors"
	"flag"
	"io"
	"time"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/kit"
)

// TB is what is asked of a test: methods of testing.TB.
type TB interface {
	Helper()
	Name() string
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Cleanup(func())
	Context() context.Context
	ArtifactDir() string
	Setenv(key, value string)
}

// Options are for tests that need something else than most do. Functions take at most one.
type Options struct {
	// Settle is how long a process that should be gone may still be there. Only a test that fails waits that long. 0 is
	// 15 s, the longest that any published client takes; of VerifyNone and VerifyTestMain, 5 s.
	Settle time.Duration
	// Confirm is how long a survivor is watched after that, to tell a late one from a leaked one. 0 is 1 s.
	Confirm time.Duration
	// Fast fails a test after 2 s for a process that nobody has told to end. It does not say then whether that is slow or lost. The
	// variable LEAKBENCH_FAST=1 does the same for all tests.
	Fast bool
	// Separate has Run start the test binary again as a host of its own, with this test alone. All laws are judged then,
	// those about the end of the host too. What stands before Run in the test is done there as well.
	Separate bool
	// Call calls a tool of what Open has returned and gives the text of its result. Storm needs it where the client has no method that
	// it can call by itself: CallTool(ctx, request) of mcp-go and go-sdk, or CallTool or Call(ctx, name, arguments). A tool that failed
	// is an error, as driver.ToolText makes it.
	Call func(ctx context.Context, client io.Closer, tool string, args map[string]any) (string, error)
	// Ignore leaves out processes that are none of the test's: VerifyNone and VerifyTestMain ask it.
	Ignore func(Process) bool
}

func one(options []Options) Options {
	if len(options) == 0 {
		return Options{}
	}
	return options[0]
}

// Open launches a server with argv and returns a client that has shaken hands with it. One that can't be connected is
// its own to close.
type Open func(ctx context.Context, argv []string) (io.Closer, error)

// Storm plays a reconnect storm against a client in this process: its server dies again and again, in two ways, and one
// launch refuses the handshake. The test fails where a server of an ended session stays, where a zombie does, or where the
// session beside it is harmed. Tools are called as well, by Options.Call or by a method of the client, as some clients reconnect in a
// call. A test that can't call any is not passed: what such a client does was not seen.
func Storm(t TB, open Open, options ...Options) {
	t.Helper()
	o := one(options)
	run(t, "storm", driver.NewClients(connectBy(open, o)), o)
}

// Run plays a scenario of leakbench (cron, reload, cancel ...; see leakbench list scenarios) against a host. Most hosts
// are driver.NewClients of a function that connects one.
func Run(t TB, scenario string, h driver.Handler, options ...Options) {
	t.Helper()
	run(t, scenario, h, one(options))
}

func run(t TB, name string, h driver.Handler, o Options) {
	t.Helper()
	r := o.request(t, kit.DoPlay)
	r.Scenario = name
	if o.Separate {
		r.Driver = separate(t, h)
	}
	b, err := start(r.Out)
	if err != nil {
		t.Fatalf("leaktest: %v", err)
		return
	}
	defer b.close()
	defer holdCollector()()
	report(t)(b.play(t.Context(), r, h))
}

// request is one for a test, as its options have it.
func (o Options) request(t TB, do string) kit.Request {
	return kit.Request{Do: do, Name: t.Name(), Out: t.ArtifactDir(), Settle: o.Settle.Seconds(), Confirm: o.Confirm.Seconds(), Fast: o.Fast}
}

// report fails a test, if an answer does.
func report(t TB) func(kit.Answer, error) {
	return func(a kit.Answer, err error) {
		t.Helper()
		switch {
		case err != nil:
			t.Fatalf("leaktest: %v", err)
		case a.OwnHost:
			t.Fatalf("leaktest: %s: set Options.Separate to have a host of its own", a.Error)
		case a.Error != "":
			t.Fatalf("leaktest: %s", a.Error)
		case a.Outcome != "":
			t.Errorf("leaktest: %s%s", a.Text, gone())
		}
	}
}

// gone says how to keep the page of a failure: without -artifacts, go test removes the folder with the test.
func gone() string {
	if keep := flag.Lookup("test.artifacts"); keep == nil || keep.Value.String() == "true" {
		return ""
	}
	return "\n  keep it    go test -artifacts; without it, the report is removed when the test ends"
}

// client is what open has returned.
type client struct {
	io.Closer
	call calling
}

func (c client) Call(ctx context.Context, tool string, args map[string]any) (string, error) {
	return c.call(ctx, tool, args)
}

func connectBy(open Open, o Options) driver.Connect {
	return func(ctx context.Context, _ string, s driver.Server) (driver.Client, error) {
		c, err := open(ctx, append([]string{s.Command}, s.Args...))
		if err != nil {
			return nil, err
		}
		if c == nil {
			return nil, errors.New("open returned neither a client nor an error")
		}
		return client{c, callsOf(c, o.Call)}, nil
	}
}
