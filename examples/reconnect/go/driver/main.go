// Command driver is the client as a host: leakbench run storm --host ./driver. DROPS=1 has the bug.
package main

import (
	"context"
	"os"

	"github.com/leakbench/leakbench/driver"
	reconnect "github.com/leakbench/leakbench/examples/reconnect/go"
)

func main() {
	hello := driver.Hello{
		Host: "reconnect-go", Version: "1", Profile: &driver.Profile{Reconnects: driver.ByItself},
		NotApplicable: map[string]string{driver.OpForget: "it asks its callers to close it"},
	}
	if err := driver.Serve(context.Background(), os.Stdin, os.Stdout, hello, driver.NewClients(connect)); err != nil {
		os.Exit(1) // the bench is gone
	}
}

func connect(ctx context.Context, _ string, s driver.Server) (driver.Client, error) {
	connect := reconnect.Connect
	if os.Getenv("DROPS") != "" {
		connect = reconnect.Dropping
	}
	c, err := connect(ctx, s.Command, s.Args...)
	if err != nil {
		return nil, err
	}
	return called{c}, nil
}

// called has the name of the method that a driver calls.
type called struct{ *reconnect.Client }

func (c called) Call(ctx context.Context, tool string, args map[string]any) (string, error) {
	return c.CallTool(ctx, tool, args)
}
