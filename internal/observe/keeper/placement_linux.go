package keeper

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/leakbench/leakbench/internal/bug"
	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
)

// placementFD is the placement's end of its conversation with the keeper.
const placementFD = 3

// placement is a process between the keeper and the host that makes a place for it. In a pid namespace it starts as
// process 1: either it turns into the host, or it stays as what adopts and reaps, as the init of a container does.
type placement struct {
	place record.Place
	keepr *os.File
	null  *os.File

	mu       sync.Mutex
	host     int
	recycled int      // has the pid of another
	leash    *os.File // its stdin
}

// Placement is the process of a place: PLACE PROGRAM ARGV... It returns its exit status, where it does not turn into the host.
func Placement(args []string) int {
	// PDEATHSIG belongs to the thread that asks for it and to the one that forks, so all of it happens on this one.
	runtime.LockOSThread()
	keepr := os.NewFile(placementFD, "keeper")
	if len(args) < 3 || keepr == nil {
		fmt.Fprintln(os.Stderr, "leakbench placement is started by leakbench run, not by hand")
		return 2
	}
	l := &placement{place: record.Place(args[0]), keepr: keepr}
	bug.OnPanic(func(p *bug.Panic) {
		_ = tell(keepr, word{Bug: p})
		os.Exit(bugStatus)
	})
	defer bug.Ends()
	if err := l.run(args[1], args[2:]); err != nil {
		_ = tell(keepr, word{Error: err.Error()})
		return 1
	}
	return 0
}

func (l *placement) run(program string, argv []string) error {
	syscall.CloseOnExec(placementFD)
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return err
	}
	if l.place == record.PlaceSubreaper {
		if err := proc.Adopt(); err != nil {
			return err
		}
	} else if err := ownProc(); err != nil {
		return err
	}
	if l.place == record.PlacePID1 {
		return fmt.Errorf("failed to turn into %s: %w", program, syscall.Exec(program, argv, l.environ()))
	}
	if err := l.start(program, argv); err != nil {
		return err
	}
	go bug.Guarded(l.obey)()
	l.reap()
	return nil
}

// ownProc mounts a /proc that shows the pids of this namespace: a host that
// looks for its children in another one would find somebody else's.
func ownProc() error {
	if os.Getpid() != 1 {
		return errors.New("not process 1 of a pid namespace")
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("the mounts can't be made private: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("a /proc of its own can't be mounted: %w", err)
	}
	return nil
}

// start starts the host with this process's stdio, and lets go of that: whoever
// waits for the end of the host's stdout must not wait for this one's.
func (l *placement) start(program string, argv []string) error {
	probeFirst()
	var err error
	stdio := []*os.File{os.Stdin, os.Stdout, os.Stderr}
	l.host, err = startProcess(program, argv, &os.ProcAttr{Env: l.environ(), Files: stdio, Sys: ownGroup()})
	if err != nil {
		return err
	}
	if l.null, err = os.OpenFile(os.DevNull, os.O_RDWR, 0); err != nil {
		return err
	}
	for fd := range 3 {
		if err := unix.Dup3(int(l.null.Fd()), fd, 0); err != nil {
			return err
		}
	}
	return tell(l.keepr, word{Started: true})
}

func (l *placement) environ() []string { return append(os.Environ(), placeMark+"="+string(l.place)) }

// obey does what the keeper asks for. The end of the keeper is that of the placement, by PDEATHSIG.
func (l *placement) obey() {
	for in := json.NewDecoder(l.keepr); ; {
		var w, answer word
		if in.Decode(&w) != nil {
			return
		}
		if w.Go {
			goAhead <- struct{}{}
			continue
		}
		if err := l.recycle(w.Recycle); err != nil {
			answer.Error = err.Error()
		}
		_ = tell(l.keepr, answer)
	}
}

// goAhead tells the reaper that the keeper knows the host.
var goAhead = make(chan struct{}, 1)

// reap waits for everything that dies below, until there is no more to do.
func (l *placement) reap() {
	died := make(chan os.Signal, 1)
	signal.Notify(died, syscall.SIGCHLD)
	<-goAhead
	for {
		over := l.reapAll()
		if over && l.place == record.PlaceInit {
			return // and with process 1 the namespace
		}
		<-died
	}
}

// reapAll reports whether the host was among them.
func (l *placement) reapAll() (over bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var last *uint32
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, unix.WNOHANG, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || pid <= 0 {
			break
		}
		s := uint32(status)
		switch pid {
		case l.host:
			last = &s
		case l.recycled:
			l.recycled = 0
			_ = tell(l.keepr, word{Recycled: &s})
		}
	}
	if last != nil { // after what it took along
		l.host = 0
		_ = tell(l.keepr, word{Exited: last})
	}
	return last != nil
}
