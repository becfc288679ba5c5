package host

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/observe"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject"
)

// clientsStart is how long the clients before a gateway may take to come up: they are a program of ours.
const clientsStart = 20 * time.Second

// startGateway waits until the gateway is up, and puts its clients before it.
func (r *run) startGateway(ctx context.Context, p subject.Prepared, lines *observe.Output) error {
	if p.Ready == (subject.Ready{}) {
		p.Ready.HTTP = p.URL
	}
	if err := r.awaitReady(ctx, p.Ready, lines); err != nil {
		return err
	}
	params := subject.GatewayParams{
		URL: p.URL, Transport: r.Host.HTTP.Transport, Headers: r.Host.HTTP.Headers, Own: r.sharing != record.Shared, Requests: p.Asks,
	}
	clients, d, err := subject.StartClients(ctx, r.Self, filepath.Join(r.Dir, gatewayLog), params)
	if err != nil {
		return err
	}
	h := r.current()
	r.locked(func() { h.clients, h.driver = clients, d })
	limited, cancel := context.WithTimeoutCause(ctx, clientsStart, errTooSlow)
	defer cancel()
	hello, err := d.Hello(limited)
	if err != nil {
		return fmt.Errorf("the clients in front of the gateway did not come up: %w", err)
	}
	said := record.Hello{Host: r.Host.Name, Version: r.Host.Version, Ops: hello.Ops, NotApplicable: map[string]string{
		driver.OpReload: "its clients can't reload it",
	}}
	if r.livesSoFar() == 1 { // of later ones others read it
		r.hello = said
	}
	r.Emit(record.Event{Kind: record.HostReady, Hello: &said})
	return nil
}
