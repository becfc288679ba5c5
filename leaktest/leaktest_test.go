package leaktest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/play/lab"
	"github.com/leakbench/leakbench/internal/reexec"
	"github.com/leakbench/leakbench/internal/reexec/reexectest" // which has the test binary be the fake server
	"github.com/leakbench/leakbench/leaktest"
)

// TestMain has goleak and leaktest beside each other. The test binary is the leakbench program too, so these tests build none, and are
// played again when the bench changes.
func TestMain(m *testing.M) {
	if status, ok := reexec.Main(os.Args); ok {
		os.Exit(status)
	}
	self, err := os.Executable()
	if err == nil && len(os.Args) > 1 && os.Args[1] == "lab" {
		err = playLab(self, os.Args[2:])
		if err == nil {
			os.Exit(0)
		}
	}
	if err == nil {
		err = os.Setenv("LEAKBENCH_BINARY", self)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	reexectest.MostlyWaits(3)
	leaktest.VerifyTestMain(leakChecked{m})
}

// playLab is what the command lab does.
func playLab(self string, args []string) error {
	p := lab.Params{Self: self}
	flags := flag.NewFlagSet("lab", flag.ExitOnError)
	flags.IntVar(&p.PID, "host", 0, "")
	flags.StringVar(&p.Out, "out", "", "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return lab.Serve(context.Background(), p, os.Stdin, os.Stdout)
}

type leakChecked struct{ m *testing.M }

func (c leakChecked) Run() int {
	code := c.m.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return code
}

// recorder is a test that fails without failing this one.
type recorder struct {
	*testing.T
	mu   sync.Mutex
	said []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said = append(r.said, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) { r.Errorf(format, args...) }

var quick = leaktest.Options{Settle: time.Second, Confirm: 200 * time.Millisecond}

// TestFast: a server that nobody has told to end fails the test after 2 s, whatever the settle time.
func TestFast(t *testing.T) {
	t.Parallel()
	r := &recorder{T: t}
	begun := time.Now()
	l := leaktest.New(r, leaktest.Options{Fast: true, Settle: 5 * time.Minute})
	c, err := connect(t.Context(), l.Server())
	require.NoError(t, err)
	l.Flat(0)
	_ = c.Close() // the lab has killed it
	require.Len(t, r.said, 1)
	assert.Contains(t, r.said[0], "still running after 2 s")
	assert.Less(t, time.Since(begun), time.Minute)
}

// client is a connection to a server: a handshake, and one call after the other.
type client struct {
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	answers *bufio.Reader
}

func connect(ctx context.Context, argv []string) (*client, error) {
	c, err := launch(ctx, argv)
	if err != nil {
		return nil, err
	}
	if err := c.shakeHands(); err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

func launch(ctx context.Context, argv []string) (*client, error) {
	cmd := exec.CommandContext(context.WithoutCancel(ctx), argv[0], argv[1:]...)
	cmd.WaitDelay = 5 * time.Second
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &client{cmd, stdin, bufio.NewReader(stdout)}, nil
}

func (c *client) shakeHands() error {
	_, err := c.ask("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}`)
	return err
}

func (c *client) ask(method, params string) (string, error) {
	if _, err := fmt.Fprintf(c.stdin, `{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`+"\n", method, params); err != nil {
		return "", err
	}
	answer, err := c.answers.ReadString('\n')
	if err == nil && !strings.Contains(answer, `"result"`) {
		err = fmt.Errorf("refused: %s", answer)
	}
	return answer, err
}

// callTool is of no name that leaktest knows.
func (c *client) callTool(_ context.Context, name string, args map[string]any) (string, error) {
	params, err := json.Marshal(map[string]any{"name": name, "arguments": args})
	if err != nil {
		return "", err
	}
	return c.ask("tools/call", string(params))
}

// caller is a client with a method that leaktest knows.
type caller struct{ *client }

func (c caller) CallTool(ctx context.Context, name string, args map[string]any) (string, error) {
	return c.callTool(ctx, name, args)
}

// Close ends the server: stdin, time, SIGKILL, and a wait.
func (c *client) Close() error {
	c.stdin.Close()
	timer := time.AfterFunc(500*time.Millisecond, func() { _ = c.cmd.Process.Kill() })
	defer timer.Stop()
	_ = c.cmd.Wait()
	return nil
}

func open(ctx context.Context, argv []string) (io.Closer, error) {
	c, err := connect(ctx, argv)
	return caller{c}, err
}

// TestParallelTestsAreToldApart has one test leak beside others that do not.
func TestParallelTestsAreToldApart(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup
	var recorders [4]*recorder
	for i := range recorders {
		r := &recorder{T: t}
		recorders[i] = r
		wg.Go(func() {
			lab := leaktest.New(r, quick)
			c, err := connect(t.Context(), lab.Server())
			if err != nil {
				r.Errorf("connect: %v", err)
				return
			}
			lab.Flat(1)
			if i != 2 {
				_ = c.Close()
			} else {
				t.Cleanup(func() { _ = c.Close() }) // after the lab has looked
			}
			leaktest.VerifyNone(r)
		})
	}
	wg.Wait()
	for i, r := range recorders {
		if i == 2 {
			require.Len(t, r.said, 1)
			assert.Contains(t, r.said[0], "L1")
		} else {
			assert.Empty(t, r.said)
		}
	}
}

// TestTheEndOfATestLooks: what is left then is found without any call, and saved although the test's folder is about to go.
func TestTheEndOfATestLooks(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	var c *client
	t.Run("leaking", func(t *testing.T) {
		r.T = t
		lab := leaktest.New(r, quick)
		var err error
		c, err = connect(t.Context(), lab.Server())
		require.NoError(t, err)
	})
	_ = c.Close()
	require.Len(t, r.said, 1)
	assert.Contains(t, r.said[0], "L1")
}

// TestStormOfAClientThatDoesItRight also says that the test process has not become anybody's reaper. The client never says
// that it has taken the answer of a handshake: that is waited for once, and not, for 4 s, before each of twenty breaks.
func TestStormOfAClientThatDoesItRight(t *testing.T) {
	t.Parallel()
	begun := time.Now()
	leaktest.Storm(t, open)
	assert.Less(t, time.Since(begun), 80*time.Second)
	assert.Zero(t, subreaper(t), "PR_GET_CHILD_SUBREAPER")
}

// unclosed is one whose Close does nothing.
type unclosed struct{ caller }

func (unclosed) Close() error { return nil }

// TestAFailureHasAPage looks for it in the test's artifact directory.
func TestAFailureHasAPage(t *testing.T) {
	t.Parallel()
	r := &recorder{T: t}
	var clients []*client
	t.Cleanup(func() {
		for _, c := range clients {
			_ = c.Close()
		}
	})
	leaktest.Storm(r, func(ctx context.Context, argv []string) (io.Closer, error) {
		c, err := connect(ctx, argv)
		if err != nil {
			return nil, err
		}
		clients = append(clients, c)
		return unclosed{caller{c}}, nil
	}, quick)
	require.Len(t, r.said, 1)
	assert.Contains(t, r.said[0], "L1")
	assert.Contains(t, r.said[0], "superseded")
	pages, err := filepath.Glob(filepath.Join(t.ArtifactDir(), "2*", "report.html")) // "latest" is a link
	require.NoError(t, err)
	assert.Len(t, pages, 1)
	assert.Contains(t, r.said[0], pages[0]+"\n", "in one piece")
	assert.Contains(t, r.said[0], "go test -artifacts", "the page goes with the test's folder")
}

// TestADroppedServerIsFoundAsWhatItIs: nobody holds a server that has refused the handshake. The garbage collector would close its
// stdin, and what is left would be a zombie.
func TestADroppedServerIsFoundAsWhatItIs(t *testing.T) {
	t.Parallel()
	var refused []int
	r := &recorder{T: t}
	leaktest.Storm(r, func(ctx context.Context, argv []string) (io.Closer, error) {
		c, err := launch(ctx, argv)
		if err != nil {
			return nil, err
		}
		if err := c.shakeHands(); err != nil {
			refused = append(refused, c.cmd.Process.Pid)
			return nil, err
		}
		return caller{c}, nil
	}, quick)
	for _, pid := range refused { // the bench has killed it, and nobody has waited for it
		if p, err := os.FindProcess(pid); err == nil {
			_, _ = p.Wait()
		}
	}
	require.Len(t, refused, 1)
	require.Len(t, r.said, 1)
	assert.Contains(t, r.said[0], "L1 init-stranded")
	assert.NotContains(t, r.said[0], "L4 zombie")
}

// TestAStormWithoutCallsIsNotGreen: a client that does all right, and whose calls are by another name.
func TestAStormWithoutCallsIsNotGreen(t *testing.T) {
	t.Parallel()
	r := &recorder{T: t}
	uncalled := func(ctx context.Context, argv []string) (io.Closer, error) { return connect(ctx, argv) }
	leaktest.Storm(r, uncalled)
	require.Len(t, r.said, 1)
	assert.Contains(t, r.said[0], "your client's own reconnect was not played: pass call")
	leaktest.Storm(t, uncalled, leaktest.Options{Call: func(ctx context.Context, c io.Closer, tool string, args map[string]any) (string, error) {
		return c.(*client).callTool(ctx, tool, args)
	}})
}

func TestWhatCannotBePlayedInside(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ scenario, want string }{
		{"crash", "it ends the host: set Options.Separate"},
		{"pid-1", "it ends the host"},
		{"strom", "did you mean storm?"},
	} {
		r := &recorder{T: t}
		leaktest.Run(r, c.scenario, driver.NewClients(driver.Connect(nil)))
		require.Len(t, r.said, 1, c.scenario)
		assert.Contains(t, r.said[0], c.want)
	}
}

// TestSeparate has the host's end judged: this client leaves what is deaf when its process is killed.
func TestSeparate(t *testing.T) {
	if os.Getenv("LEAKTEST_DRIVER") == "" {
		t.Parallel()
	}
	r := &recorder{T: t}
	leaktest.Run(r, "crash", driver.NewClients(func(ctx context.Context, _ string, s driver.Server) (driver.Client, error) {
		c, err := connect(ctx, append([]string{s.Command}, s.Args...))
		return calling{c}, err
	}), leaktest.Options{Separate: true, Settle: quick.Settle, Confirm: quick.Confirm})
	require.Len(t, r.said, 1)
	assert.Contains(t, r.said[0], "L2 deaf")
}

type calling struct{ *client }

func (c calling) Call(ctx context.Context, tool string, args map[string]any) (string, error) {
	return c.callTool(ctx, tool, args)
}

// TestVerifyNone is not parallel: here children of this process are this test's.
func TestVerifyNone(t *testing.T) {
	leaktest.VerifyNone(t)
	cmd := exec.CommandContext(t.Context(), "cat")
	cmd.WaitDelay = time.Second
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	r := &recorder{T: t}
	leaktest.VerifyNone(r, leaktest.Options{Settle: 50 * time.Millisecond, Ignore: func(p leaktest.Process) bool { return p.PID == cmd.Process.Pid }})
	assert.Empty(t, r.said)
	leaktest.VerifyNone(r, leaktest.Options{Settle: 50 * time.Millisecond})
	require.Len(t, r.said, 1)
	assert.Contains(t, r.said[0], "cat")
	stdin.Close()
	var zombie *recorder
	require.Eventually(t, func() bool {
		zombie = &recorder{T: t}
		leaktest.VerifyNone(zombie, leaktest.Options{Settle: time.Millisecond})
		return len(zombie.said) == 1 && strings.Contains(zombie.said[0], "has not waited for it")
	}, 10*time.Second, time.Millisecond)
	require.NoError(t, cmd.Wait())
	leaktest.VerifyNone(t)
}

func TestParallelTestLeavesChildrenToMain(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "cat")
	cmd.WaitDelay = time.Second
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	leaktest.VerifyNone(t, leaktest.Options{Settle: time.Millisecond})
	stdin.Close()
	require.NoError(t, cmd.Wait())
}

func TestBadFault(t *testing.T) {
	t.Parallel()
	r := &recorder{T: t}
	leaktest.New(r).Server("on=eof,do=dance")
	require.Len(t, r.said, 1)
	assert.Contains(t, r.said[0], "dance")
}

type benchTB struct{ *testing.B }

// BenchmarkVerifyNone is of a clean test: without a lab, and with one whose server has come and gone.
func BenchmarkVerifyNone(b *testing.B) {
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			leaktest.VerifyNone(benchTB{b})
		}
	})
	b.Run("lab", func(b *testing.B) {
		t := benchTB{b}
		lab := leaktest.New(t)
		c, err := connect(b.Context(), lab.Server())
		require.NoError(b, err)
		_ = c.Close()
		lab.Flat(0)
		for b.Loop() {
			leaktest.VerifyNone(t)
		}
	})
}
