package driver_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/leakbench/leakbench/driver"
)

// sdkClient stands for the client of an SDK.
type sdkClient struct{ server string }

func (c sdkClient) Call(_ context.Context, tool string, _ map[string]any) (string, error) {
	return driver.ToolText([]string{tool, "of", c.server}, false)
}

func (sdkClient) Close() error { return nil }

// A driver around an SDK is a function that connects a client, and a hello. The
// bench is a pipe here; a driver reads os.Stdin.
func Example() {
	in, bench := io.Pipe()
	defer bench.Close()
	go fmt.Fprintln(bench, `{"id":1,"op":"stop"}`)

	connect := func(_ context.Context, _ string, s driver.Server) (driver.Client, error) {
		return sdkClient{s.Name}, nil // start s.Command with s.Args, and shake hands
	}
	hello := driver.Hello{
		Host: "my-sdk", Version: "2.3.0", Ops: []string{driver.OpOpen, driver.OpCall, driver.OpCancel, driver.OpClose, driver.OpStop},
		NotApplicable: map[string]string{driver.OpReload: "it reads its configuration once"},
		Profile:       &driver.Profile{Settle: driver.Duration(2500 * time.Millisecond), Ladder: "stdin close, 2s, KILL"},
	}
	if err := driver.Serve(context.Background(), in, os.Stdout, hello, driver.NewClients(connect)); err != nil {
		fmt.Println(err) // the bench is gone
	}
	// Output:
	// {"hello":{"protocol":1,"host":"my-sdk","version":"2.3.0","ops":["open","call","cancel","close","stop"],"not_applicable":{"reload":"it reads its configuration once"},"profile":{"settle":"2.5s","ladder":"stdin close, 2s, KILL"}}}
	// {"id":1,"ok":true}
}
