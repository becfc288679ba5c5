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
	"github.com/leakbench/leakbench/internal/stage/hostlog"
	"github.com/leakbench/leakbench/internal/subject/host"
)

const (
	// clientsStart is how long the clients before a gateway may take to come up: they are a program of ours.
	clientsStart = 20 * time.Second
	// clientsEnd is how long they may take to end once their stdin has.
	clientsEnd = 5 * time.Second
)

// gatewayClients is the process of the clients before a gateway. It is a child
// of the bench, not of the keeper: it is none of the host's, and in no census.
type gatewayClients struct {
	cmd    *exec.Cmd
	log    *os.File
	waited chan struct{}
}

// startGateway waits until the gateway is up, and puts its clients before it.
func (r *run) startGateway(ctx context.Context, p host.Prepared, lines *hostlog.Output) error {
	if p.Ready == (host.Ready{}) {
		p.Ready.HTTP = p.URL
	}
	if err := r.awaitReady(ctx, p.Ready, lines); err != nil {
		return err
	}
	params := host.GatewayParams{
		URL: p.URL, Transport: r.Host.HTTP.Transport, Headers: r.Host.HTTP.Headers, Own: r.sharing != record.Shared, Requests: p.Asks,
	}
	clients, d, err := startClients(ctx, r.Self, filepath.Join(r.Dir, gatewayLog), params)
	if err != nil {
		return err
	}
	h := r.current()
	r.mu.Lock()
	h.clients, h.driver = clients, d
	r.mu.Unlock()
	limited, cancel := context.WithTimeoutCause(ctx, clientsStart, errTooSlow)
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

func startClients(ctx context.Context, self, log string, p host.GatewayParams) (*gatewayClients, *host.Driver, error) {
	params, err := json.Marshal(p)
	if err != nil {
		return nil, nil, err
	}
	c := &gatewayClients{waited: make(chan struct{})}
	if c.log, err = os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600); err != nil {
		return nil, nil, err
	}
	// It ends when its stdin does, and so with the bench, however that ends.
	c.cmd = exec.CommandContext(context.WithoutCancel(ctx), self, "host", "gateway-clients")
	c.cmd.Cancel = func() error { return c.cmd.Process.Kill() }
	c.cmd.WaitDelay = clientsEnd
	c.cmd.Env = append(os.Environ(), host.GatewayEnv+"="+string(params))
	c.cmd.Stderr = c.log
	stdin, err := c.cmd.StdinPipe()
	if err != nil {
		return nil, nil, errors.Join(err, c.log.Close())
	}
	r, w, err := os.Pipe() // not StdoutPipe: Wait would close it under the reader
	if err != nil {
		return nil, nil, errors.Join(err, c.log.Close())
	}
	c.cmd.Stdout = w
	err = c.cmd.Start()
	w.Close()
	if err != nil {
		return nil, nil, errors.Join(err, r.Close(), c.log.Close())
	}
	go func() { _ = c.cmd.Wait(); close(c.waited) }()
	return c, host.Connect(r, stdin), nil
}

// end waits for the end of the clients, whose stdin is closed by now.
func (c *gatewayClients) end() error {
	if c == nil {
		return nil
	}
	defer c.log.Close()
	timer := time.NewTimer(clientsEnd)
	defer timer.Stop()
	select {
	case <-c.waited:
		return nil
	case <-timer.C:
	}
	_ = c.cmd.Process.Kill()
	<-c.waited
	return fmt.Errorf("the clients before the gateway did not end within %v of the end of their stdin", clientsEnd)
}
