package gateway

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"
)

var errVanished = errors.New("this client has vanished")

// wire is the TCP connections of one client, so that they can be dropped.
type wire struct {
	*http.Client

	mu    sync.Mutex
	conns []net.Conn
	gone  bool
}

const dialTimeout = 10 * time.Second

func newWire() *wire {
	w := &wire{}
	dialer := &net.Dialer{Timeout: dialTimeout}
	w.Client = &http.Client{Transport: &http.Transport{
		Proxy: nil, // a gateway on the bench is on this machine
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := dialer.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return c, w.keep(c)
		},
	}}
	return w
}

// keep remembers a connection; a wire that was cut takes none.
func (w *wire) keep(c net.Conn) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.gone {
		c.Close()
		return errVanished
	}
	w.conns = append(w.conns, c)
	return nil
}

// cut closes everything, whatever is under way on it.
func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gone = true
	for _, c := range w.conns {
		c.Close()
	}
	w.conns = nil
}
