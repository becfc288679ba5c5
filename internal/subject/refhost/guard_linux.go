package refhost

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

// GuardArg makes the program the guard of a host, whose PID follows.
const GuardArg = "guard"

// guardEnv marks what a guard starts. A program that does not know "host guard", such as a test binary, would do there what it
// always does, and start hosts with guards of their own without end.
const guardEnv = "LEAKBENCH_GUARD"

// startGuard starts a process that outlives a host which is killed, and ends what the kernel does not end with it: servers behind a
// launcher, daemons, helpers. It hears of the host's end by a pipe. leave lets it go and waits until it has gone.
func startGuard() (leave func()) {
	self, err := os.Executable()
	if err != nil || os.Getenv(guardEnv) != "" {
		return func() {}
	}
	cmd := exec.Command(self, "host", GuardArg, strconv.Itoa(os.Getpid()))
	cmd.Env = append(os.Environ(), guardEnv+"=1")
	cmd.WaitDelay = exactTerm
	ownGroup(cmd, true) // whoever ends the host by its group does not end it
	hold, err := cmd.StdinPipe()
	if err != nil || cmd.Start() != nil {
		return func() {}
	}
	return func() {
		_ = hold.Close()
		_ = cmd.Wait()
	}
}

// guardFor is how long the guard looks for what is left.
const guardFor = 2 * time.Second

// Guard is the guard's process. It returns its exit status.
func Guard(host string) int {
	signal.Ignore(syscall.SIGTERM, os.Interrupt, syscall.SIGHUP)
	_, _ = io.Copy(io.Discard, os.Stdin)
	mark := []byte(fmt.Sprintf("%s=%s.", markName, host))
	nobody := 0
	for deadline := time.Now().Add(guardFor); nobody < 2 && time.Now().Before(deadline); nobody++ {
		for _, c := range marked(mark) {
			(*strays)(nil).signal([]child{c}, syscall.SIGKILL)
			nobody = -1 // it may have forked meanwhile
		}
		time.Sleep(10 * time.Millisecond) // sleep-ok: the deaths of other processes' children send no word
	}
	return 0
}

// marked are the living processes with a mark that begins so.
func marked(mark []byte) (all []child) {
	for _, pid := range numbersIn("/proc") {
		env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err != nil || !bytes.HasPrefix(env, mark) && !bytes.Contains(env, append([]byte{0}, mark...)) {
			continue
		}
		if st, ok := statOf(pid); ok && st.state != 'Z' && st.state != 'X' {
			all = append(all, child{pid, st.start})
		}
	}
	return all
}
