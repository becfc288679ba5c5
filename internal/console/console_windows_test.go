package console

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/windows"
)

// TestMain makes the test binary the process that asks, and those that are asked.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == Arg:
		os.Exit(Main(os.Args[2:]))
	case len(os.Args) > 2 && os.Args[1] == "asked":
		os.Exit(asked(os.Args[2]))
	}
	os.Exit(m.Run())
}

// caught is the status of one that was asked and has noticed.
const caught = 7

// asked says that it is there, and waits until it is asked.
func asked(how string) int {
	got := make(chan os.Signal, 1)
	if how != "dies" {
		signal.Notify(got, os.Interrupt)
	}
	if how == "above" { // one in the same console, and then both are asked
		cmd := exec.Command(os.Args[0], "asked", "catches")
		cmd.Stdout = os.Stdout
		if cmd.Start() != nil {
			return 1
		}
		_ = cmd.Wait()
		<-got
		return cmd.ProcessState.ExitCode()
	}
	fmt.Println("here")
	select {
	case <-got:
		return caught
	case <-time.After(time.Minute):
		return 0
	}
}

// TestInterrupt: a process that catches it, one that does not, one with another in its console, and one without a console.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		how    string
		flags  uint32
		status int
		err    error
	}{
		{"catches", windows.CREATE_NO_WINDOW, caught, nil},
		{"dies", windows.CREATE_NO_WINDOW, int(windows.STATUS_CONTROL_C_EXIT), nil},
		{"above", windows.CREATE_NO_WINDOW, caught, nil},
		{"catches", windows.DETACHED_PROCESS, 1, ErrNone},
	} {
		t.Run(fmt.Sprint(c.how, " ", c.flags), func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0], "asked", c.how)
			cmd.Cancel, cmd.WaitDelay = func() error { return cmd.Process.Kill() }, time.Second
			cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: c.flags}
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			line, err := bufio.NewReader(out).ReadString('\n')
			require.NoError(t, err)
			require.Equal(t, "here\n", line)
			assert.ErrorIs(t, Interrupt(t.Context(), cmd.Process.Pid), c.err)
			if c.err != nil {
				require.NoError(t, cmd.Process.Kill())
			}
			_ = cmd.Wait()
			assert.Equal(t, uint32(c.status), uint32(cmd.ProcessState.ExitCode()))
		})
	}
	require.Error(t, Interrupt(t.Context(), 1<<30), "there is no such process")
}
