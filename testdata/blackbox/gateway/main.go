// Gateway serves an MCP server over streamable HTTP that it launches over stdio, in one of four ways:
//
//	gateway --port N --for all|all-lazily|session|request [--leak WHAT] -- SERVER ARGS...
//
// With --for session it also serves clients of the older transport, SSE, at /sse. Without a port it serves nobody, and only keeps a
// server. With --stdin it also ends with its stdin. With --for command it uses a server for a moment, and exits.
// Without --leak it is as careful as a gateway can be. With it, it makes one mistake.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// message is a message of JSON-RPC.
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
}

// session is a client with a server of its own.
type session struct {
	*server
	conn net.Conn // that the client was last heard over; guarded by gateway.mu
}

type gateway struct {
	argv []string
	mode string
	leak string

	mu       sync.Mutex
	sessions map[string]*session
	streams  map[string]*stream
	next     int

	launching sync.Mutex // guards shared, and makes requests wait for a relaunch
	shared    *server
	hello     json.RawMessage // what the shared server has answered to initialize

	ending sync.WaitGroup
}

func main() {
	port := flag.Int("port", 0, "port to listen on; 0: none")
	stdin := flag.Bool("stdin", false, "ends with its stdin, too")
	g := &gateway{sessions: map[string]*session{}, streams: map[string]*stream{}}
	flag.StringVar(&g.mode, "for", "session", "for whom a server is launched: all, all-lazily, session, request, command")
	flag.StringVar(&g.leak, "leak", "",
		"superseded, dead, vanished, abandoned, closed, cancelled or stop; of a command abandon or cut; console: it leaves its console (Windows)")
	flag.Parse()
	g.argv = flag.Args()
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	if g.leak == "console" {
		leaveConsole()
	}
	if g.mode == "command" {
		os.Exit(g.command(stop))
	}
	if g.mode == "all" {
		if _, err := g.one(context.Background()); err != nil {
			log.Print("the first launch: ", err)
		}
		go g.supervise()
	}
	web := &http.Server{
		Addr: fmt.Sprintf("127.0.0.1:%d", *port), Handler: g, ConnState: g.hungUp,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) },
	}
	if *port > 0 {
		go func() { log.Fatal(web.ListenAndServe()) }()
	}
	if *stdin {
		go func() { _, _ = io.Copy(io.Discard, os.Stdin); stop <- os.Interrupt }()
	}
	<-stop
	if g.leak == "stop" {
		os.Exit(0)
	}
	g.endAll()
}

// one is the server that all clients share, launched anew where the last one has ended.
func (g *gateway) one(ctx context.Context) (*server, error) {
	g.launching.Lock()
	defer g.launching.Unlock()
	if g.shared != nil && (g.leak == "dead" || g.shared.works()) {
		return g.shared, nil
	}
	if g.shared != nil && g.leak != "superseded" {
		g.shared.end()
	}
	g.shared = nil
	s, err := launch(g.argv)
	if err != nil {
		return nil, err
	}
	g.shared = s
	if g.hello, err = s.shakeHands(ctx); err != nil {
		s.end()
		return nil, err
	}
	return s, nil
}

// supervise relaunches the shared server as soon as it has ended.
func (g *gateway) supervise() {
	for {
		s, err := g.one(context.Background())
		if err != nil {
			time.Sleep(100 * time.Millisecond) // sleep-ok: why a launch failed, and when it would not, is unknown
			continue
		}
		<-s.broken
	}
}

func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := r.Header.Get("Mcp-Session-Id")
	g.mu.Lock()
	s := g.sessions[id]
	if s != nil {
		s.conn, _ = r.Context().Value(connKey{}).(net.Conn)
	}
	g.mu.Unlock()
	var m message
	switch {
	case r.URL.Path == "/sse":
		g.serveStream(w, r)
	case r.URL.Path == "/message":
		g.post(w, r)
	case r.Method == http.MethodDelete:
		g.endSession(id, g.leak == "closed")
	case r.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case json.NewDecoder(io.LimitReader(r.Body, 16<<20)).Decode(&m) != nil:
		w.WriteHeader(http.StatusBadRequest)
	case len(m.ID) == 0:
		if s != nil && m.Method == "notifications/initialized" {
			s.notify(m.Method, nil)
		}
		w.WriteHeader(http.StatusAccepted)
	default:
		g.answer(w, r, m)
	}
}

func (g *gateway) answer(w http.ResponseWriter, r *http.Request, m message) {
	var a message
	var err error
	switch {
	case g.mode == "request":
		a, err = g.forRequest(r.Context(), m)
	case g.mode != "session":
		a, err = g.forAll(r.Context(), m)
	case m.Method == "initialize":
		g.mu.Lock()
		g.next++
		id := fmt.Sprint("session-", g.next)
		g.mu.Unlock()
		w.Header().Set("Mcp-Session-Id", id)
		conn, _ := r.Context().Value(connKey{}).(net.Conn)
		a, err = g.begin(r.Context(), id, conn, m)
	default:
		g.mu.Lock()
		s := g.sessions[r.Header.Get("Mcp-Session-Id")]
		g.mu.Unlock()
		if s == nil {
			http.Error(w, "no such session", http.StatusNotFound)
			return
		}
		a, err = s.request(r.Context(), m.Method, m.Params)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(a.answering(m, err))
}

// answering is the answer to a request: what its server has said, or why there is nothing.
func (a message) answering(m message, err error) message {
	if err != nil {
		a.Error, _ = json.Marshal(map[string]any{"code": -32000, "message": err.Error()})
	}
	a.JSONRPC, a.ID = "2.0", m.ID
	return a
}

func (g *gateway) forAll(ctx context.Context, m message) (message, error) {
	s, err := g.one(ctx)
	if err != nil || m.Method == "initialize" {
		return message{Result: g.hello}, err
	}
	return s.request(ctx, m.Method, m.Params)
}

// forRequest launches a server for one request.
func (g *gateway) forRequest(ctx context.Context, m message) (a message, err error) {
	s, err := launch(g.argv)
	if err != nil {
		return a, err
	}
	defer func() {
		if ctx.Err() == nil || g.leak != "cancelled" {
			g.ending.Go(s.end)
		}
	}()
	if m.Method == "initialize" {
		return s.request(ctx, m.Method, m.Params)
	}
	if _, err := s.shakeHands(ctx); err != nil {
		return a, err
	}
	return s.request(ctx, m.Method, m.Params)
}

// begin launches a server for a new session, and hands the handshake through.
func (g *gateway) begin(ctx context.Context, id string, conn net.Conn, m message) (message, error) {
	s, err := launch(g.argv)
	if err != nil {
		return message{}, err
	}
	limited, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	a, err := s.request(limited, m.Method, m.Params)
	g.mu.Lock()
	err = errors.Join(err, limited.Err()) // a client that goes from here on is one of the sessions
	if err == nil && len(a.Error) == 0 {
		g.sessions[id] = &session{s, conn}
		g.mu.Unlock()
		return a, nil
	}
	g.mu.Unlock()
	if g.leak != "abandoned" {
		s.end()
	}
	return a, err
}

func (g *gateway) endSession(id string, leak bool) {
	g.mu.Lock()
	s := g.sessions[id]
	delete(g.sessions, id)
	delete(g.streams, id)
	g.mu.Unlock()
	if s != nil && !leak {
		s.end()
	}
}

type connKey struct{}

// hungUp ends the sessions of a client whose connection is closed, and that does not come back over another one.
func (g *gateway) hungUp(c net.Conn, state http.ConnState) {
	if state != http.StateClosed || g.leak == "vanished" {
		return
	}
	time.AfterFunc(time.Second, func() {
		g.mu.Lock()
		var gone []string
		for id, s := range g.sessions {
			if s.conn == c {
				gone = append(gone, id)
			}
		}
		g.mu.Unlock()
		for _, id := range gone {
			g.endSession(id, false)
		}
	})
}

func (g *gateway) endAll() {
	g.mu.Lock()
	for _, s := range g.sessions {
		g.ending.Go(s.end)
	}
	g.mu.Unlock()
	g.launching.Lock() // for good: nothing is launched any more
	if g.shared != nil {
		g.ending.Go(g.shared.end)
	}
	g.ending.Wait()
}
