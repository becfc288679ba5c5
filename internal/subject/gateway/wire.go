package gateway

import (
	"context"
	"net"
	"net/http"
	"time"
)

// wire is the TCP connections of one client. cut closes them all, whatever is
// under way on them, and each that is made later.
type wire struct {
	*http.Client
	life context.Context // ends with the cut
	cut  context.CancelFunc
}

const dialTimeout = 10 * time.Second

func newWire() *wire {
	life, cut := context.WithCancel(context.Background())
	dialer := &net.Dialer{Timeout: dialTimeout}
	return &wire{life: life, cut: cut, Client: &http.Client{Transport: &http.Transport{
		Proxy: nil, // a gateway on the bench is on this machine
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := dialer.DialContext(ctx, network, address)
			if err == nil {
				context.AfterFunc(life, func() { c.Close() })
			}
			return c, err
		},
	}}}
}
