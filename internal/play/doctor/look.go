package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/leakbench/leakbench/internal/bug"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/lines"
	"github.com/leakbench/leakbench/internal/observe/keeper"
	"github.com/leakbench/leakbench/internal/observe/ledger"
	"github.com/leakbench/leakbench/internal/observe/socket"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject/hostfile"
	"github.com/leakbench/leakbench/scenarios"
)

// Params say what to look at.
type Params struct {
	Self string // the program that is also the fake server and the keeper
	Out  string // where runs would be saved,
	Else string // and how another folder is chosen
	Tool record.Tool
}

// peers are the programs that published hosts are written for.
var peers = []string{"python3", "node", "go"}

const (
	peerWait  = 10 * time.Second
	trialWait = 60 * time.Second
)

// Look tries everything. It takes about a second, most of it the trial run.
func Look(ctx context.Context, p Params) Facts {
	f := Facts{Fails: map[string]string{}, Untried: map[string]bool{}, Lacks: Lacks(p.Self)}
	f.lookAtSockets()
	f.lookAtDisk(p.Out)
	f.Disk.Other = p.Else
	browser, err := play.Browser()
	f.Browser = Browser{Command: strings.Join(browser, " "), Error: says(err)}
	_, err = hostfile.InstallDir("any", "1")
	f.Fails["packages"] = says(err)
	f.System = record.System{OS: runtime.GOOS, Arch: runtime.GOARCH, Kernel: proc.Kernel(), CPUs: runtime.NumCPU(), UID: os.Getuid()}
	for name, try := range map[string]func() error{"pidfd": proc.TryPidfd, "sock-diag": proc.TrySockDiag, "cgroup": keeper.TryCgroup} {
		f.Fails[name] = f.tried(name, try())
	}
	f.lookAtSystem()
	if len(f.Lacks) > 0 {
		f.leaveOut()
		return f
	}
	var wg sync.WaitGroup
	f.Peers = make([]Peer, len(peers))
	for i, name := range peers {
		wg.Go(func() {
			defer bug.Ends()
			f.Peers[i] = ask(ctx, name)
		})
	}
	f.lookWithProcesses(ctx, p.Self)
	wg.Wait()
	f.try(ctx, p)
	return f
}

// leaveOut leaves out all that takes processes to find out, and what is not known without /proc.
func (f *Facts) leaveOut() {
	f.Witness = record.Witness{Census: proc.CensusName}
	names := []string{"ledger", "subreaper", "evidence", "others", "user-namespace", "pid-namespace", "ns-last-pid"}
	if slices.ContainsFunc(f.Lacks, func(l Lack) bool { return l.Name == needProc }) {
		names = append(names, "census", "pid-max", "pid-1", "cgroup")
	}
	if f.PIDMax == 0 {
		names = append(names, "pid-max")
	}
	if f.Init.Name == "" {
		names = append(names, "pid-1")
	}
	for _, name := range names {
		f.Untried[name] = true
	}
}

// ask starts a program and has it say its version.
func ask(ctx context.Context, name string) Peer {
	path, err := exec.LookPath(name)
	if err != nil {
		return Peer{Name: name}
	}
	ctx, cancel := context.WithTimeout(ctx, peerWait)
	defer cancel()
	arg := "--version"
	if name == "go" {
		arg = "version"
	}
	cmd := exec.CommandContext(ctx, path, arg)
	cmd.WaitDelay = time.Second
	said := lines.Head{Max: saidMax}
	cmd.Stdout = &said
	err = cmd.Run()
	return Peer{Name: name, Path: path, Error: says(err), Version: plain(string(said.Bytes()))}
}

// saidMax is how much is read of what another program says, in bytes.
const saidMax = 4 << 10

// plain is the first line of what another program said, made harmless.
func plain(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, line)
	return strings.ToValidUTF8(line[:min(len(line), 120)], "")
}

// tried is what says that something does not work, or "": where that is for want of descriptors, it was not tried.
func (f *Facts) tried(name string, err error) string {
	if errors.Is(err, syscall.EMFILE) {
		f.Untried[name] = true
		return ""
	}
	return says(err)
}

func says(err error) string {
	if err == nil {
		return ""
	}
	return plain(err.Error())
}

func (f *Facts) lookAtSockets() {
	wanted := filepath.Clean(os.TempDir())
	dir, err := ledger.NewDir()
	if err != nil {
		f.Sockets = Sockets{Wanted: wanted, Error: f.tried("sockets", err)}
		return
	}
	_ = ledger.RemoveDir(dir)
	f.Sockets = Sockets{Wanted: wanted, Dir: filepath.Dir(dir), Length: ledger.PathLength(dir), Max: socket.MaxSocketPath}
}

// lookAtDisk asks for the folder of the runs, or the nearest above it that is there.
func (f *Facts) lookAtDisk(out string) {
	dir := filepath.Clean(out) // a relative one stays so: the folder that this is may have been removed
	for dir != filepath.Dir(dir) {
		if _, gone := os.Stat(dir); gone == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	d := Disk{Dir: dir}
	if path, err := filepath.Abs(dir); err == nil {
		d.Dir = path
	}
	var err error
	if d.Free, err = freeBytes(dir); err == nil {
		var probe string
		probe, err = os.MkdirTemp(dir, ".leakbench-doctor-")
		_ = os.Remove(probe)
	}
	if err != nil {
		d.Error = f.tried("disk", err)
	}
	f.Disk = d
}

// trial is the smallest play that needs everything: a session, a fault, a reconnect, the host's end.
const trial = `name: doctor
title: a server exits, and the host reconnects
servers:
  only:
limits: {settle: 3s, confirm: 1s, quiet: 50ms}
steps:
  - {open: one, server: only}
  - call: one
  - {break: one, with: exit}
  - open: one
  - checkpoint: connected
`

// try plays it with the reference host that does everything right.
func (f *Facts) try(ctx context.Context, p Params) {
	ctx, cancel := context.WithTimeout(ctx, trialWait)
	defer cancel()
	begun := time.Now()
	j, err := tryRun(ctx, p)
	f.Trial = Trial{Took: time.Since(begun), Outcome: string(j.Verdict.Outcome), Error: says(err)}
	switch v := &j.Verdict; {
	case len(v.Findings) > 0:
		f.Trial.Why = v.Findings[0].Title
	case len(v.Doubts) > 0:
		f.Trial.Why = v.Doubts[0].Text
	}
	f.Witness = record.Witness{Census: proc.CensusName, Weak: proc.Weak()}
	if j.Run != nil {
		f.Witness, f.System = j.Run.Header.Witness, j.Run.Header.System
	}
}

func tryRun(ctx context.Context, p Params) (j verdict.Judged, err error) {
	dir, err := ledger.NewDir() // of the temporary folders one that works
	if err != nil {
		return j, err
	}
	defer func() { err = errors.Join(err, ledger.RemoveDir(dir)) }()
	s, unread := scenarios.Parse("doctor.yaml", []byte(trial))
	h, missing := play.TheHost(p.Self, play.DefaultHost, nil)
	if err := errors.Join(unread, missing); err != nil {
		return j, err
	}
	bench := play.Bench{Self: p.Self, Tool: p.Tool}
	played, err := bench.One(ctx, play.Cell{Scenario: s, Host: h, Seed: 1, Dir: filepath.Join(dir, "run")})
	if err != nil {
		return j, err
	}
	return *played, nil
}

// serve starts a fake server of ours and says when it has answered, which is when it waits for its stdin.
func serve(ctx context.Context, self string, look func(pid int)) error {
	ctx, cancel := context.WithTimeout(ctx, peerWait)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, "fakeserver", "--lifetime", peerWait.String())
	cmd.WaitDelay = time.Second
	in, noIn := cmd.StdinPipe()
	out, noOut := cmd.StdoutPipe()
	if err := errors.Join(noIn, noOut); err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	if _, err := io.ReadAtLeast(out, make([]byte, 1), 1); err != nil {
		return errors.Join(err, in.Close(), cmd.Wait())
	}
	look(cmd.Process.Pid)
	return errors.Join(in.Close(), cmd.Wait())
}
