package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"
)

// bridge hands the messages of a session to a server of its own, as gateways
// from stdio to streamable HTTP do.
type bridge struct {
	argv   []string
	polite bool
	shared bool // one server for all, which is initialized once

	mu       sync.Mutex
	next     int
	sessions map[string]*bridged
	only     *bridged // that all share
	welcome  []byte   // its answer to initialize
}

// bridged is a session and its server.
type bridged struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	conn  net.Conn // that its client was last heard over; guarded by bridge.mu

	ready   atomic.Bool // it was told that it is initialized
	mu      sync.Mutex
	waiting map[string]chan []byte
	ended   bool
}

type connKey struct{}

// hangUp ends the sessions whose client was last heard over a connection that is
// closed, and does not come back over another: it is gone, whatever it has said
// or not said. A client may well drop a connection after an answer.
func (g *bridge) hangUp(c net.Conn, state http.ConnState) {
	if !g.polite || state != http.StateClosed {
		return
	}
	time.AfterFunc(300*time.Millisecond, func() {
		for _, id := range g.lastHeard(c) {
			g.end(id)
		}
	})
}

func (g *bridge) lastHeard(c net.Conn) []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var ids []string
	for id, s := range g.sessions {
		if s.conn == c {
			ids = append(ids, id)
		}
	}
	return ids
}

func (g *bridge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := r.Header.Get("Mcp-Session-Id")
	conn, _ := r.Context().Value(connKey{}).(net.Conn)
	g.mu.Lock()
	s := g.sessions[id]
	if s != nil {
		s.conn = conn
	}
	g.mu.Unlock()
	switch {
	case r.Method == http.MethodDelete && s != nil:
		g.end(id)
	case r.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case id != "" && s == nil:
		http.Error(w, "Session not found", http.StatusNotFound)
	default:
		g.post(w, r, s)
	}
}

func (g *bridge) post(w http.ResponseWriter, r *http.Request, s *bridged) {
	body, err := io.ReadAll(r.Body)
	var message struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if err != nil || json.Unmarshal(body, &message) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if s == nil {
		var id string
		conn, _ := r.Context().Value(connKey{}).(net.Conn)
		if id, s = g.begin(conn); s == nil {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		w.Header().Set("Mcp-Session-Id", id)
	}
	answer := g.answer(s, string(message.ID), message.Method, body)
	if len(message.ID) == 0 {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	select {
	case line, ok := <-answer:
		if !ok {
			http.Error(w, "the server has ended", http.StatusBadGateway)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(line)
	case <-r.Context().Done():
	}
}

// answer is the server's, or the one that a server which all share has given to the first client. All clients of the bench give the
// request the same id.
func (g *bridge) answer(s *bridged, id, method string, body []byte) <-chan []byte {
	answer := make(chan []byte, 1)
	g.mu.Lock()
	welcome := g.welcome
	g.mu.Unlock()
	switch {
	case !g.shared || method != "initialize" && method != "notifications/initialized":
		return s.send(id, body)
	case welcome == nil && method == "initialize":
		line, ok := <-s.send(id, body)
		if !ok {
			close(answer)
			return answer
		}
		g.mu.Lock()
		g.welcome = line
		g.mu.Unlock()
		answer <- line
	case method == "initialize":
		answer <- welcome
	case s.ready.CompareAndSwap(false, true):
		return s.send(id, body)
	}
	return answer
}

// begin gives a client a session, with a server of its own or with the one that all share.
func (g *bridge) begin(conn net.Conn) (string, *bridged) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.only
	if s == nil {
		s = g.launch(conn)
	}
	if s == nil {
		return "", nil
	}
	if g.shared {
		g.only = s
	}
	g.next++
	id := fmt.Sprint("s", g.next)
	g.sessions[id] = s
	return id, s
}

func (g *bridge) launch(conn net.Conn) *bridged {
	cmd := exec.Command(g.argv[0], g.argv[1:]...)
	cmd.WaitDelay = time.Second
	stdin, _ := cmd.StdinPipe()
	stdout, _ := cmd.StdoutPipe()
	if cmd.Start() != nil {
		return nil
	}
	s := &bridged{cmd: cmd, stdin: stdin, conn: conn, waiting: map[string]chan []byte{}}
	go s.read(stdout)
	return s
}

func (s *bridged) read(stdout io.Reader) {
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		var message struct {
			ID json.RawMessage `json:"id"`
		}
		if json.Unmarshal(lines.Bytes(), &message) != nil {
			continue
		}
		s.mu.Lock()
		if ch := s.waiting[string(message.ID)]; ch != nil {
			ch <- bytes.Clone(lines.Bytes())
			delete(s.waiting, string(message.ID))
		}
		s.mu.Unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	for _, ch := range s.waiting {
		close(ch)
	}
	clear(s.waiting)
}

func (s *bridged) send(id string, body []byte) <-chan []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer := make(chan []byte, 1)
	if s.ended {
		close(answer)
		return answer
	}
	if id != "" {
		s.waiting[id] = answer
	}
	_, _ = s.stdin.Write(append(bytes.ReplaceAll(body, []byte("\n"), nil), '\n'))
	return answer
}

// end ends a session, and the server that is its own.
func (g *bridge) end(id string) {
	g.mu.Lock()
	s := g.sessions[id]
	delete(g.sessions, id)
	g.mu.Unlock()
	if s != nil && !g.shared {
		s.end()
	}
}

// end closes a server, waits a moment, kills, and waits.
func (s *bridged) end() {
	s.stdin.Close()
	kill := time.AfterFunc(500*time.Millisecond, func() { _ = s.cmd.Process.Kill() })
	_ = s.cmd.Wait()
	kill.Stop()
}

func (g *bridge) closeAll() {
	g.mu.Lock()
	var all []string
	for id := range g.sessions {
		all = append(all, id)
	}
	g.mu.Unlock()
	for _, id := range all {
		g.end(id)
	}
	if g.only != nil && g.shared {
		g.only.end()
	}
}
