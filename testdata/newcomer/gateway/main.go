// stdio-gateway makes an MCP server that speaks stdio reachable over HTTP. Each client session gets its own server process.
//
// Usage: stdio-gateway -listen 127.0.0.1:8080 npx -y @modelcontextprotocol/server-everything
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

type session struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser

	mu      sync.Mutex
	pending map[string]chan []byte
}

var (
	mu       sync.Mutex
	sessions = map[string]*session{}
)

func start(argv []string) (*session, error) {
	s := &session{cmd: exec.Command(argv[0], argv[1:]...), pending: map[string]chan []byte{}}
	s.cmd.Stderr = os.Stderr
	var err error
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go s.readLoop(stdout)
	return s, nil
}

func (s *session) readLoop(stdout io.Reader) {
	scanner := bufio.NewScanner(stdout)
	scanner.Buffer(nil, 64<<20)
	for scanner.Scan() {
		var msg struct {
			ID json.RawMessage `json:"id"`
		}
		if err := json.Unmarshal(scanner.Bytes(), &msg); err != nil {
			continue
		}
		s.mu.Lock()
		if ch, ok := s.pending[string(msg.ID)]; ok {
			ch <- append([]byte(nil), scanner.Bytes()...)
			delete(s.pending, string(msg.ID))
		}
		s.mu.Unlock()
	}
}

func (s *session) close() {
	s.stdin.Close()
}

func handle(argv []string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get("Mcp-Session-Id")
		mu.Lock()
		s := sessions[id]
		mu.Unlock()
		switch r.Method {
		case http.MethodDelete:
			if s != nil {
				mu.Lock()
				delete(sessions, id)
				mu.Unlock()
				s.close()
			}
			return
		case http.MethodPost:
		default:
			http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
			return
		}
		body, err := io.ReadAll(r.Body)
		var msg struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if err != nil || json.Unmarshal(body, &msg) != nil {
			http.Error(w, "bad request", http.StatusBadRequest)
			return
		}
		if s == nil {
			if msg.Method != "initialize" {
				http.Error(w, "session not found", http.StatusNotFound)
				return
			}
			if s, err = start(argv); err != nil {
				http.Error(w, err.Error(), http.StatusBadGateway)
				return
			}
			id = fmt.Sprintf("%016x", rand.Uint64())
			mu.Lock()
			sessions[id] = s
			mu.Unlock()
			w.Header().Set("Mcp-Session-Id", id)
		}
		answer := make(chan []byte, 1)
		s.mu.Lock()
		if len(msg.ID) > 0 {
			s.pending[string(msg.ID)] = answer
		}
		fmt.Fprintf(s.stdin, "%s\n", body)
		s.mu.Unlock()
		if len(msg.ID) == 0 {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		select {
		case line := <-answer:
			w.Header().Set("Content-Type", "application/json")
			w.Write(line)
		case <-time.After(time.Minute):
			http.Error(w, "the server did not answer", http.StatusGatewayTimeout)
		}
	}
}

func main() {
	listen := flag.String("listen", "127.0.0.1:8080", "address to listen on")
	flag.Parse()
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	http.Handle("/mcp", handle(flag.Args()))
	go func() { log.Fatal(http.ListenAndServe(*listen, nil)) }()
	<-stop
	mu.Lock()
	for _, s := range sessions {
		s.close()
	}
}
