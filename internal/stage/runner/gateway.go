package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject/host"
)

const (
	// frontStart is how long the clients before a gateway may take to come up:
	// they are a program of ours.
	frontStart = 20 * time.Second
	// frontEnd is how long they may take to end once their stdin has.
	frontEnd = 5 * time.Second
)

// front is the process of the clients before a gateway. It is a child of the
// bench, not of the keeper: it is none of the host's, and in no census.
type front struct {
	cmd    *exec.Cmd
	log    *os.File
	waited chan struct{}
}

// startGateway waits until the gateway is up, and puts its clients before it.
func (r *run) startGateway(ctx context.Context, p host.Prepared, lines *output) error {
	if p.Ready == (host.Ready{}) {
		p.Ready.HTTP = p.URL
	}
	if err := r.awaitReady(ctx, p.Ready, lines); err != nil {
		return err
	}
	params := host.FrontParams{
		URL: p.URL, Transport: r.Host.HTTP.Transport, Headers: r.Host.HTTP.Headers, Own: r.sharing != record.Shared,
	}
	clients, d, err := startFront(ctx, r.Self, filepath.Join(r.Dir, FrontLog), params)
	if err != nil {
		return err
	}
	h := r.current()
	r.mu.Lock()
	h.front, h.driver = clients, d
	r.mu.Unlock()
	limited, cancel := context.WithTimeoutCause(ctx, frontStart, errTooSlow)
	defer cancel()
	hello, err := d.Hello(limited)
	if err != nil {
		return fmt.Errorf("the clients before the gateway did not come up: %w", err)
	}
	said := record.Hello{Host: r.Host.Name, Version: r.Host.Version, Ops: hello.Ops, NotApplicable: map[string]string{
		driver.OpReload: "its clients can't reload it",
	}}
	if r.livesSoFar() == 1 { // of later ones others read it
		r.hello = said
	}
	r.emit(record.Event{Kind: record.HostReady, Hello: &said})
	return nil
}

func startFront(ctx context.Context, self, log string, p host.FrontParams) (*front, *host.Driver, error) {
	params, err := json.Marshal(p)
	if err != nil {
		return nil, nil, err
	}
	f := &front{waited: make(chan struct{})}
	if f.log, err = os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600); err != nil {
		return nil, nil, err
	}
	// It ends when its stdin does, and so with the bench, however that ends.
	f.cmd = exec.CommandContext(context.WithoutCancel(ctx), self, "host", "front")
	f.cmd.Cancel = func() error { return f.cmd.Process.Kill() }
	f.cmd.WaitDelay = frontEnd
	f.cmd.Env = append(os.Environ(), host.FrontEnv+"="+string(params))
	f.cmd.Stderr = f.log
	stdin, err := f.cmd.StdinPipe()
	if err != nil {
		return nil, nil, errors.Join(err, f.log.Close())
	}
	r, w, err := os.Pipe() // not StdoutPipe: Wait would close it under the reader
	if err != nil {
		return nil, nil, errors.Join(err, f.log.Close())
	}
	f.cmd.Stdout = w
	err = f.cmd.Start()
	w.Close()
	if err != nil {
		return nil, nil, errors.Join(err, r.Close(), f.log.Close())
	}
	go func() { _ = f.cmd.Wait(); close(f.waited) }()
	return f, host.Connect(r, stdin), nil
}

// end waits for the end of the clients, whose stdin is closed by now.
func (f *front) end() error {
	if f == nil {
		return nil
	}
	defer f.log.Close()
	timer := time.NewTimer(frontEnd)
	defer timer.Stop()
	select {
	case <-f.waited:
		return nil
	case <-timer.C:
	}
	_ = f.cmd.Process.Kill()
	<-f.waited
	return fmt.Errorf("the clients before the gateway did not end within %v of the end of their stdin", frontEnd)
}
