package driver_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/record"
)

// sdk makes clients that write down what becomes of them.
type sdk struct{ log []string }

type written struct {
	sdk  *sdk
	name string
}

func (c written) Call(_ context.Context, tool string, _ map[string]any) (string, error) {
	return driver.ToolText([]string{"a", "b"}, tool == "fail")
}

func (c written) Close() error {
	c.sdk.log = append(c.sdk.log, "close "+c.name)
	if c.name == "stubborn" {
		return errors.New("it did not go")
	}
	return nil
}

// vanishing does something of its own when it is forgotten.
type vanishing struct{ written }

func (c vanishing) Forget() { c.sdk.log = append(c.sdk.log, "forget "+c.name) }

func (s *sdk) connect(_ context.Context, session string, server driver.Server) (driver.Client, error) {
	c := written{s, server.Name}
	s.log = append(s.log, "connect "+session+" to "+c.name)
	switch c.name {
	case "missing":
		return nil, errors.New("no such file")
	case "vanishing":
		return vanishing{c}, nil
	}
	return c, nil
}

func TestClientsOfSessions(t *testing.T) {
	t.Parallel()
	ctx, s := t.Context(), &sdk{}
	h := driver.NewClients(s.connect)
	require.NoError(t, h.Open(ctx, "s", driver.Server{Name: "old"}))
	require.NoError(t, h.Open(ctx, "s", driver.Server{Name: "new"}), "a reconnect")
	require.ErrorContains(t, h.Open(ctx, "t", driver.Server{Name: "missing"}), "no such file")
	text, err := h.Call(ctx, "s", "echo", nil)
	require.NoError(t, err)
	assert.JSONEq(t, `"a\nb"`, string(text))
	_, err = h.Call(ctx, "s", "fail", nil)
	require.EqualError(t, err, "the tool failed: a\nb")
	require.NoError(t, h.Reload(ctx, []driver.SessionServer{{Session: "s", Server: driver.Server{Name: "reloaded"}}}))
	require.NoError(t, h.Close(ctx, "s"))
	for _, err := range []error{h.Close(ctx, "s"), h.Forget(ctx, "s")} {
		require.EqualError(t, err, `no session "s"`)
	}
	require.NoError(t, h.Open(ctx, "v", driver.Server{Name: "vanishing"}))
	require.NoError(t, h.Forget(ctx, "v"))
	require.NoError(t, h.Open(ctx, "f", driver.Server{Name: "forgotten"}))
	require.NoError(t, h.Forget(ctx, "f"))
	require.NoError(t, h.Open(ctx, "u", driver.Server{Name: "stubborn"}))
	require.ErrorContains(t, h.Stop(ctx), "it did not go")
	assert.Equal(t, []string{
		"connect s to old", "close old", "connect s to new", "connect t to missing", "close new", "connect s to reloaded", "close reloaded",
		"connect v to vanishing", "forget vanishing", "connect f to forgotten", "connect u to stubborn", "close stubborn",
	}, s.log)
}

func TestClientsOfJobs(t *testing.T) {
	t.Parallel()
	s := &sdk{}
	results, err := driver.NewClients(s.connect).Tick(t.Context(), []driver.Job{{Session: "j", Server: driver.Server{Name: "one"}, Tool: "fail", TimeoutMS: 1000}})
	require.NoError(t, err)
	assert.Equal(t, []driver.JobResult{{Session: "j", Error: "the tool failed: a\nb"}}, results)
	assert.Equal(t, []string{"connect j to one", "close one"}, s.log)
}

// TestAJobOfASessionIsAlone: the bench could not say which one it cancels.
func TestAJobOfASessionIsAlone(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	two := []driver.Job{{Session: "a"}, {Session: "a"}, {Session: "b"}}
	results := driver.RunJobs(t.Context(), two, func(_ context.Context, j driver.Job) error {
		if j.Session == "b" {
			close(release)
			return nil
		}
		<-release // until all are started
		return nil
	})
	assert.Equal(t, []driver.JobResult{
		{Session: "a", OK: true}, {Session: "a", Error: `a job of session "a" is running already`}, {Session: "b", OK: true},
	}, results)
}

// TestWhatIsNotOfferedIsRefused: a host embeds a nil Handler for what it has not.
func TestWhatIsNotOfferedIsRefused(t *testing.T) {
	t.Parallel()
	b := serveAs(t, driver.Hello{Host: "test", Ops: []string{driver.OpTick}}, struct{ driver.Handler }{})
	b.send(`{"id":1,"op":"open","session":"s","server":{"name":"x","command":"x"}}`)
	assert.Equal(t, "this host does not offer open", b.read().Error)
}

// TestProfileIsTheRecordedOne: what a driver declares reads as a run file has it.
func TestProfileIsTheRecordedOne(t *testing.T) {
	t.Parallel()
	p := driver.Profile{Settle: driver.Duration(2500 * time.Millisecond), Stop: driver.Duration(time.Minute), Ladder: "KILL", Resident: 2, Scale: "1/2"}
	text, err := json.Marshal(p)
	require.NoError(t, err)
	var recorded record.Profile
	require.NoError(t, json.Unmarshal(text, &recorded))
	again, err := json.Marshal(recorded)
	require.NoError(t, err)
	assert.JSONEq(t, string(text), string(again))
	var back driver.Profile
	require.NoError(t, json.Unmarshal(again, &back))
	assert.Equal(t, p, back)
	require.Error(t, json.Unmarshal([]byte(`{"settle":"soon"}`), &back))
}
