// Package driver is for programs that put a host on the bench of leakbench: the
// driver's side of the driver protocol, for drivers in Go.
//
// A driver is a small program that owns a real MCP client and does with it what the bench asks. Both talk in lines of
// JSON over the driver's stdin and stdout; its stderr is kept as the host's log. `leakbench run SCENARIO --host
// ./DRIVER` starts it. docs/use/driver-protocol.md describes the same for other languages.
//
// A host that is an SDK's client, with no sessions, jobs or reload of its own, needs a function that connects one:
// see Clients. Any other host is a Handler, whose methods are the operations of the protocol; Serve calls them, one
// goroutine for each request:
//
//	hello := driver.Hello{Host: "my-host", Version: "2.3.0"}
//	if err := driver.Serve(ctx, os.Stdin, os.Stdout, hello, handler); err != nil {
//		os.Exit(1) // the bench is gone
//	}
//
// A host without some of the operations leaves them out of Hello.Ops: Serve refuses them, and the bench does not ask for them.
package driver
