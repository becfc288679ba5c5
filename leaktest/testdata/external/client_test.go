package pool

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/leaktest"
)

func TestMain(m *testing.M) { leaktest.VerifyTestMain(m, quick) }

// quick is for tests that are to fail. Each of mcp-go's steps to end a server takes 2 to 3 s, but only a deaf one needs them.
var quick = leaktest.Options{Settle: 1500 * time.Millisecond, Confirm: 500 * time.Millisecond}

// closer closes a client. How its server ended is no failure.
type closer struct{ *client.Client }

func (c closer) Close() error {
	err := c.Client.Close()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		return nil
	}
	return err
}

func (c closer) Call(ctx context.Context, tool string, args map[string]any) (string, error) {
	req := mcp.CallToolRequest{}
	req.Params.Name, req.Params.Arguments = tool, args
	result, err := c.CallTool(ctx, req)
	if err != nil {
		return "", err
	}
	text, _ := mcp.AsTextContent(result.Content[0])
	return driver.ToolText([]string{text.Text}, result.IsError)
}

type connector func(ctx context.Context, argv []string) (*client.Client, error)

func (connect connector) open(ctx context.Context, argv []string) (io.Closer, error) {
	c, err := connect(ctx, argv)
	if err != nil {
		return nil, err
	}
	return closer{c}, nil
}

func (connect connector) host() driver.Handler {
	return driver.NewClients(func(ctx context.Context, _ string, s driver.Server) (driver.Client, error) {
		c, err := connect(ctx, append([]string{s.Command}, s.Args...))
		if err != nil {
			return nil, err
		}
		return closer{c}, nil
	})
}

func TestStormLeaking(t *testing.T) {
	t.Parallel()
	leaktest.Storm(t, connector(connectLeaking).open, quick)
}

func TestStormFixed(t *testing.T) {
	t.Parallel()
	leaktest.Storm(t, connector(connect).open, quick)
}

// TestStormOfficial calls tools of the official SDK's session, as of mcp-go's client, by their own methods.
func TestStormOfficial(t *testing.T) {
	t.Parallel()
	leaktest.Storm(t, func(ctx context.Context, argv []string) (io.Closer, error) {
		session, err := connectOfficial(ctx, argv)
		return official{session}, err
	})
}

// official is a session whose server may exit with any status.
type official struct{ *sdk.ClientSession }

func (o official) Close() error {
	err := o.ClientSession.Close()
	if ended := (*exec.ExitError)(nil); errors.As(err, &ended) {
		return nil
	}
	return err
}

func TestCronFixed(t *testing.T) {
	t.Parallel()
	leaktest.Run(t, "cron", connector(connect).host(), quick)
}

func TestSeparateFixed(t *testing.T) {
	t.Parallel()
	leaktest.Run(t, "storm", connector(connect).host(), leaktest.Options{Separate: true})
}

func TestSeparateLeaking(t *testing.T) {
	t.Parallel()
	leaktest.Run(t, "storm", connector(connectLeaking).host(), leaktest.Options{Separate: true, Settle: quick.Settle, Confirm: quick.Confirm})
}

// TestFlat uses servers as it likes: one that needs more than the end of its stdin, and that the client ends after 2 s.
func TestFlat(t *testing.T) {
	t.Parallel()
	lab := leaktest.New(t)
	argv := lab.Server("on=eof,do=ignore")
	first, err := connect(t.Context(), argv)
	if err != nil {
		t.Fatal(err)
	}
	lab.Flat(1)
	second, err := connect(t.Context(), argv)
	if err != nil {
		t.Fatal(err)
	}
	_ = first.Close()
	lab.Flat(1)
	_ = second.Close()
	leaktest.VerifyNone(t)
}

func TestFlatLeaking(t *testing.T) {
	t.Parallel()
	lab := leaktest.New(t, quick)
	argv := lab.Server()
	if _, err := connect(t.Context(), argv); err != nil {
		t.Fatal(err)
	}
	if _, err := connect(t.Context(), argv); err != nil {
		t.Fatal(err)
	}
	lab.Flat(1)
}

// TestChild leaves a child that is no server.
func TestChild(t *testing.T) {
	defer leaktest.VerifyNone(t, quick)
	cmd := exec.Command("cat")
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
}

func TestChildOfMain(t *testing.T) {
	if os.Getenv("LEAVE") == "" {
		t.Skip("only where VerifyTestMain is to find it")
	}
	if _, err := os.StartProcess("/bin/sleep", []string{"sleep", "30"}, &os.ProcAttr{}); err != nil {
		t.Fatal(err)
	}
}
