package reconnect_test

import (
	"context"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	reconnect "github.com/leakbench/leakbench/examples/reconnect/go"
	"github.com/leakbench/leakbench/leaktest"
)

func TestMain(m *testing.M) { leaktest.VerifyTestMain(m) }

func TestReconnect(t *testing.T) {
	t.Parallel()
	leaktest.Storm(t, func(ctx context.Context, argv []string) (io.Closer, error) {
		return reconnect.Connect(ctx, argv[0], argv[1:]...)
	})
}

func TestReconnectDropping(t *testing.T) {
	t.Parallel()
	r := &recorder{T: t}
	leaktest.Storm(r, func(ctx context.Context, argv []string) (io.Closer, error) {
		return reconnect.Dropping(ctx, argv[0], argv[1:]...)
	}, quick)
	r.says(t, "L1 superseded")
}

type connecting func(ctx context.Context, command string, args ...string) (*reconnect.Client, error)

func oneReconnect(t *testing.T, lab *leaktest.Lab, connect connecting) {
	t.Helper()
	argv := lab.Server("on=call,do=close-stdout,launch=1")
	client, err := connect(t.Context(), argv[0], argv[1:]...)
	require.NoError(t, err)
	defer client.Close()
	// The first server closes its stdout, and the client launches a second one.
	_, err = client.CallTool(t.Context(), "echo", map[string]any{"text": "hello"})
	require.NoError(t, err)
	lab.Flat(1) // the second one is alive, and no other
}

func TestOneReconnect(t *testing.T) {
	t.Parallel()
	oneReconnect(t, leaktest.New(t), reconnect.Connect)
}

func TestOneReconnectDropping(t *testing.T) {
	t.Parallel()
	r := &recorder{T: t}
	oneReconnect(t, leaktest.New(r, quick), reconnect.Dropping)
	r.says(t, "L1 superseded")
}

// renamed is a client whose method is none that leaktest knows.
type renamed struct{ client *reconnect.Client }

func (r renamed) Invoke(ctx context.Context, name string, args map[string]any) (string, error) {
	return r.client.CallTool(ctx, name, args)
}

func (r renamed) Close() error { return r.client.Close() }

func dropping(ctx context.Context, argv []string) (io.Closer, error) {
	c, err := reconnect.Dropping(ctx, argv[0], argv[1:]...)
	return renamed{c}, err
}

func TestRenamed(t *testing.T) {
	t.Parallel()
	r := &recorder{T: t}
	o := quick
	o.Call = func(ctx context.Context, client io.Closer, tool string, args map[string]any) (string, error) {
		return client.(renamed).Invoke(ctx, tool, args)
	}
	leaktest.Storm(r, dropping, o)
	r.says(t, "L1 superseded")
}

// TestRenamedWithoutCall: the bug was not seen, and the test says so.
func TestRenamedWithoutCall(t *testing.T) {
	t.Parallel()
	r := &recorder{T: t}
	leaktest.Storm(r, dropping, quick)
	r.says(t, "your client's own reconnect was not played: pass call")
	assert.NotContains(t, r.said[0], "superseded")
}

// quick is for tests that are to fail. Close takes 2 s only with a server that does not exit.
var quick = leaktest.Options{Settle: 500 * time.Millisecond, Confirm: 100 * time.Millisecond}

// recorder is a test that fails without failing this one.
type recorder struct {
	*testing.T
	said []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.said = append(r.said, fmt.Sprintf(format, args...))
}
func (r *recorder) Fatalf(format string, args ...any) { r.Errorf(format, args...) }

func (r *recorder) says(t *testing.T, want string) {
	t.Helper()
	require.Len(t, r.said, 1)
	assert.Contains(t, r.said[0], want)
}
