package attach

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/leakbench/leakbench/internal/bug"
	"github.com/leakbench/leakbench/report/formats"
)

// Serve serves metrics of what a screen has seen last, until stop is called. An address without a host is one of this machine alone.
func Serve(addr string, s *Screen) (where string, stop func(), err error) {
	host, port, err := net.SplitHostPort(addr)
	if err == nil && host == "" {
		host = "127.0.0.1"
	}
	var listener net.Listener
	if err == nil {
		listener, err = net.Listen("tcp", net.JoinHostPort(host, port))
	}
	if err != nil {
		return "", nil, fmt.Errorf("failed to serve metrics at %q: %w", addr, err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(out http.ResponseWriter, _ *http.Request) {
		out.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_, _ = out.Write(s.metrics())
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 10 * time.Second}
	ended := make(chan struct{})
	go func() {
		defer bug.Ends()
		defer close(ended)
		_ = server.Serve(listener) // until it is closed
	}()
	return listener.Addr().String(), func() { _ = server.Close(); <-ended }, nil
}

// metrics are those of the last look.
func (s *Screen) metrics() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b bytes.Buffer
	if s.fold != nil {
		formats.Watched(&b, s.fold.View())
	}
	return b.Bytes()
}
