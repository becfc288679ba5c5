package refhost

import (
	"errors"
	"log"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"golang.org/x/sys/windows"

	"github.com/leakbench/leakbench/internal/subject/catalogue"
	"github.com/leakbench/leakbench/internal/winjob"
)

// strays holds each server, with all that it starts, in a job of its own. Nothing leaves a job that does not let it.
type strays struct {
	flaw catalogue.Flaw
	mu   sync.Mutex
	jobs map[*os.Process]*holding // of those that were launched and not waited for yet; a pid may be another server's by then
}

// holding is what holds a server. 0 is none.
type holding struct {
	job windows.Handle
	// server is the process itself where it comes into its job later: as long as this is open, its pid is nobody else's.
	server windows.Handle
}

func (h *holding) close() {
	for _, one := range []windows.Handle{h.job, h.server} {
		if one != 0 {
			_ = windows.CloseHandle(one)
		}
	}
}

// terminated is the exit status of what the host ends.
const terminated = 1

func newStrays(f catalogue.Flaw) *strays { return &strays{flaw: f, jobs: map[*os.Process]*holding{}} }

// start starts a server suspended, and lets it run once it is in its job. A host that ends by any means ends the job, where it is to.
func (s *strays) start(cmd *exec.Cmd, dieWithHost bool) error {
	if s.flaw == catalogue.JobsLate {
		// As the SDKs do it. Each server has a console of its own then, that is a conhost.exe.
		cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NO_WINDOW}
		return s.startOutside(cmd)
	}
	job, err := s.newJob(dieWithHost)
	if err != nil {
		return err
	}
	if err = winjob.Start(cmd, job); err != nil {
		return errors.Join(err, windows.CloseHandle(job))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.jobs[cmd.Process] = &holding{job: job}
	return nil
}

// startOutside starts a server that comes into its job once it is connected.
func (s *strays) startOutside(cmd *exec.Cmd) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	server, err := winjob.Open(cmd.Process.Pid) // nobody waits for it yet
	if err != nil {
		return errors.Join(err, cmd.Process.Kill(), cmd.Wait())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.jobs[cmd.Process] = &holding{server: server}
	return nil
}

// connected puts a server into its job that was started without one: what it has started so far stays outside. One that was waited for
// meanwhile needs none.
func (s *strays) connected(cmd *exec.Cmd) {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := s.jobs[cmd.Process]
	if s.flaw != catalogue.JobsLate || held == nil {
		return
	}
	job, err := s.newJob(true)
	if err == nil {
		if err = windows.AssignProcessToJobObject(job, held.server); err != nil {
			err = errors.Join(err, windows.CloseHandle(job))
		}
	}
	if err != nil {
		log.Printf("pid %d is in no job: %v", cmd.Process.Pid, err)
		return
	}
	held.job = job
}

func (s *strays) newJob(dieWithHost bool) (windows.Handle, error) {
	var flags uint32
	if dieWithHost {
		flags |= windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	}
	if s.flaw == catalogue.JobsLeak {
		flags |= windows.JOB_OBJECT_LIMIT_SILENT_BREAKAWAY_OK
	}
	return winjob.New(flags)
}

// wait waits for a server's exit, and lets go of its job.
func (s *strays) wait(cmd *exec.Cmd) {
	_ = cmd.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if held, there := s.jobs[cmd.Process]; there {
		held.close()
		delete(s.jobs, cmd.Process)
	}
}

// of finds nothing: all that a server has started is in its job.
func (*strays) of(*exec.Cmd) []child { return nil }

func (*strays) signal([]child, syscall.Signal) {}

// signalAll ends the job of a server: Windows has no signals, and nothing that asks one to end but the end of its stdin.
func (s *strays) signalAll(p *os.Process, sig syscall.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sig != syscall.SIGKILL {
		return
	}
	if held, there := s.jobs[p]; there && held.job != 0 {
		_ = windows.TerminateJobObject(held.job, terminated)
	}
	if s.flaw == catalogue.JobsLate { // whose connection has failed has none
		_ = p.Kill()
	}
}
