package lab_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/play/lab"
)

// library is the other side of Serve.
type library struct {
	t    *testing.T
	in   io.WriteCloser
	out  *bufio.Scanner
	over chan error
	errs bytes.Buffer // read once over has said that it is over
}

func newLibrary(t *testing.T) *library {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	requests, in := io.Pipe()
	out, answers := io.Pipe()
	l := &library{t: t, in: in, out: bufio.NewScanner(out), over: make(chan error, 1)}
	p := lab.Params{Self: self, Out: t.TempDir(), PID: os.Getpid(), Settle: time.Second, Confirm: 100 * time.Millisecond, Err: &l.errs}
	go func() {
		l.over <- lab.Serve(t.Context(), p, requests, answers)
		answers.Close()
	}()
	return l
}

// ask sends a line and returns the next one that comes.
func (l *library) ask(line string) (answer struct {
	ID                   int64
	Error, Outcome, Text string
	Argv                 []string
	Left                 []struct{ PID int }
},
) {
	l.t.Helper()
	_, err := io.WriteString(l.in, line+"\n")
	require.NoError(l.t, err)
	require.True(l.t, l.out.Scan())
	require.NoError(l.t, json.Unmarshal(l.out.Bytes(), &answer))
	return answer
}

func TestServe(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	assert.Equal(t, `unknown request "dance"`, l.ask(`{"id":1,"do":"dance"}`).Error)
	assert.Contains(t, l.ask(`{"id":2,"do":"server","name":"a","faults":["on=eof,do=dance"]}`).Error, "dance")
	assert.Contains(t, l.ask(`{"id":3,"do":"play","name":"a","scenario":"strom"}`).Error, "did you mean storm?")
	assert.Contains(t, l.ask(`{"id":4,"do":"play","name":"a","scenario":"crash"}`).Error, "it ends the host")
	server := l.ask(`{"id":5,"do":"server","name":"a","faults":["on=eof,do=ignore"]}`)
	require.NotEmpty(t, server.Argv, server.Error)
	cmd, end := start(t, server.Argv)
	assert.Empty(t, l.ask(`{"id":6,"do":"flat","name":"a","n":1}`).Outcome)
	end()
	leak := l.ask(`{"id":7,"do":"close","name":"a"}`)
	assert.Equal(t, "leak", leak.Outcome)
	assert.Contains(t, leak.Text, "L1")
	require.Error(t, cmd.Wait(), "killed")
	require.NoError(t, l.in.Close())
	assert.NoError(t, <-l.over)
}

// TestServeFast: a server that nobody has told to end is given up after 2 s, whatever the limits; without that, it is said what is waited for.
func TestServeFast(t *testing.T) {
	t.Parallel()
	for _, fast := range []bool{true, false} {
		t.Run(strconv.FormatBool(fast), func(t *testing.T) {
			t.Parallel()
			l := newLibrary(t)
			more := `"settle":30`
			if !fast {
				more = `"settle":3`
			}
			more += `,"fast":` + strconv.FormatBool(fast)
			server := l.ask(`{"id":1,"do":"server","name":"a",` + more + `}`)
			require.NotEmpty(t, server.Argv, server.Error)
			start(t, server.Argv)
			require.Empty(t, l.ask(`{"id":2,"do":"flat","name":"a","n":1,`+more+`}`).Outcome, "it has come up")
			leak := l.ask(`{"id":3,"do":"close","name":"a",` + more + `}`)
			assert.Equal(t, "leak", leak.Outcome)
			assert.Equal(t, fast, strings.Contains(leak.Text, "L1 still-running"), leak.Text)
			require.NoError(t, l.in.Close())
			require.NoError(t, <-l.over)
			waiting := "leakbench: waiting in a: flat(0): still running after 2 s: server1#1; waiting up to "
			assert.Equal(t, !fast, strings.Contains(l.errs.String(), waiting), l.errs.String())
		})
	}
}

// TestAPlayHasADriver: the first that a library hears of a play is that it must have one. Its end ends the play.
func TestAPlayHasADriver(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	_, err := io.WriteString(l.in, `{"id":1,"do":"play","name":"a","scenario":"storm"}`+"\n")
	require.NoError(t, err)
	require.True(t, l.out.Scan())
	assert.JSONEq(t, `{"id":1,"begin":true}`, l.out.Text())
	_, err = io.WriteString(l.in, `{"id":1,"from_driver":{"hello":{"protocol":1,"host":"x","ops":["open","call","close"]}}}`+"\n")
	require.NoError(t, err)
	require.True(t, l.out.Scan())
	assert.Contains(t, l.out.Text(), `"to_driver":{"id":1,"op":"open"`)
	require.NoError(t, l.in.Close())
	go func() {
		for l.out.Scan() { // what it still says
		}
	}()
	assert.NoError(t, <-l.over)
}

func TestABadRequestEndsIt(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	_, err := io.WriteString(l.in, "{\n")
	require.NoError(t, err)
	require.ErrorContains(t, <-l.over, "a request")
}
