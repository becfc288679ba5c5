package subject

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/leakbench/leakbench/internal/duration"
)

// clientsEnd is how long the clients before a gateway may take to end once their stdin has.
const clientsEnd = 5 * time.Second

// Clients is the process of the clients before a gateway. It is a child
// of the bench, not of the keeper: it is none of the host's, and in no census.
type Clients struct {
	cmd    *exec.Cmd
	log    *os.File
	waited chan struct{}
}

// StartClients starts the clients before a gateway, and connects to them. What they say goes to the file log.
func StartClients(ctx context.Context, self, log string, p GatewayParams) (*Clients, *Driver, error) {
	params, err := json.Marshal(p)
	if err != nil {
		return nil, nil, err
	}
	c := &Clients{waited: make(chan struct{})}
	if c.log, err = os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600); err != nil {
		return nil, nil, err
	}
	// It ends when its stdin does, and so with the bench, however that ends.
	c.cmd = exec.CommandContext(context.WithoutCancel(ctx), self, "host", "gateway-clients")
	c.cmd.Cancel = func() error { return c.cmd.Process.Kill() }
	c.cmd.WaitDelay = clientsEnd
	c.cmd.Env = append(os.Environ(), GatewayEnv+"="+string(params))
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
	return c, Connect(r, stdin), nil
}

// End waits for the end of the clients, whose stdin is closed by now. Without clients it does nothing.
func (c *Clients) End() error {
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
	return fmt.Errorf("the clients in front of the gateway did not end within %s of the end of their stdin", duration.Text(clientsEnd))
}
