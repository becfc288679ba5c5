package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"
)

// server is an MCP server over stdio, in a process group of its own where there are groups.
type server struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	broken chan struct{} // closed at the end of its stdout
	exited chan struct{}

	mu      sync.Mutex
	next    int
	waiting map[string]chan message
}

func launch(argv []string) (*server, error) {
	s := &server{
		cmd: exec.Command(argv[0], argv[1:]...), waiting: map[string]chan message{},
		broken: make(chan struct{}), exited: make(chan struct{}),
	}
	s.cmd.SysProcAttr = byItself()
	stdin, err := s.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s.stdin, s.cmd.Stdout, s.cmd.Stderr = stdin, w, os.Stderr
	err = s.cmd.Start()
	w.Close()
	if err != nil {
		stdout.Close()
		return nil, err
	}
	go s.read(stdout)
	go func() { _ = s.cmd.Wait(); close(s.exited) }()
	return s, nil
}

func (s *server) read(stdout *os.File) {
	defer stdout.Close()
	lines := bufio.NewReader(stdout)
	for {
		line, err := lines.ReadBytes('\n')
		var m message
		if json.Unmarshal(line, &m) == nil && len(m.ID) > 0 && m.Method == "" {
			s.mu.Lock()
			if answer := s.waiting[string(m.ID)]; answer != nil {
				answer <- m
				delete(s.waiting, string(m.ID))
			}
			s.mu.Unlock()
		}
		if err != nil {
			close(s.broken)
			return
		}
	}
}

func (s *server) works() bool {
	select {
	case <-s.broken:
		return false
	case <-s.exited:
		return false
	default:
		return true
	}
}

func (s *server) write(m message) error {
	m.JSONRPC = "2.0"
	line, err := json.Marshal(m)
	if err != nil {
		return err
	}
	_, err = s.stdin.Write(append(line, '\n'))
	return err
}

func (s *server) notify(method string, params json.RawMessage) {
	_ = s.write(message{Method: method, Params: params})
}

// request asks under an id of its own. A client that has gone takes its request back.
func (s *server) request(ctx context.Context, method string, params json.RawMessage) (message, error) {
	answer := make(chan message, 1)
	s.mu.Lock()
	s.next++
	id := strconv.Itoa(s.next)
	s.waiting[id] = answer
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.waiting, id)
		s.mu.Unlock()
	}()
	if err := s.write(message{ID: json.RawMessage(id), Method: method, Params: params}); err != nil {
		return message{}, err
	}
	select {
	case a := <-answer:
		return message{Result: a.Result, Error: a.Error}, nil
	case <-s.broken:
		return message{}, errors.New("the server has ended")
	case <-ctx.Done():
		if method != "initialize" {
			s.notify("notifications/cancelled", json.RawMessage(`{"requestId":`+id+`}`))
		}
		return message{}, ctx.Err()
	}
}

// shakeHands is the gateway's own handshake, for a server that is not one client's.
func (s *server) shakeHands(ctx context.Context) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	hello := `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"gateway","version":"1"}}`
	a, err := s.request(ctx, "initialize", json.RawMessage(hello))
	if err == nil && len(a.Error) > 0 {
		err = errors.New(string(a.Error))
	}
	if err == nil {
		s.notify("notifications/initialized", nil)
	}
	return a.Result, err
}

// end closes stdin, and helps where that is not enough.
func (s *server) end() {
	s.stdin.Close()
	for _, help := range helps {
		select {
		case <-s.exited:
			return
		case <-time.After(2 * time.Second):
			help(s.cmd.Process)
		}
	}
	<-s.exited
}
