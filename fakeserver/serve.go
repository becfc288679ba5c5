package fakeserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/leakbench/leakbench/fakeserver/birth"
)

// receive takes in one line. What may take time goes on beside it: a sleeping call must not hold up a ping, and a
// full stdout must not hide the end of stdin.
func (s *server) receive(line []byte) {
	if members, ok := s.isBatch(line); ok {
		s.receiveBatch(members)
		return
	}
	s.take(line, nil)
}

// take takes in one message, by itself or in a batch.
func (s *server) take(line []byte, b *batch) {
	m, err := parseMessage(line)
	r := &request{message: m, batch: b, cancelled: make(chan struct{})}
	r.ID = append(r.ID[:0:0], r.ID...)
	var bad *rpcError
	if errors.As(err, &bad) {
		s.protest(r, bad)
		return
	}
	if r.Method == "" {
		return // an answer to a question that this server never asks
	}
	r.modern = s.isModern(r)
	s.tell(r, "received")
	if !r.isRequest() {
		if r.Method == methodCancelled {
			s.flight.cancel(string(r.params.RequestID))
		}
		return
	}
	if r.Method == "initialize" {
		if b != nil {
			s.protest(r, &rpcError{Code: codeInvalid, Message: "Invalid Request: initialize must not be part of a batch"})
			return
		}
		s.greeted.Store(true)
	}
	if s.era == EraLegacyMute && r.Method == "server/discover" {
		return
	}
	if !s.flight.add(r) {
		s.protest(r, &rpcError{Code: codeInvalid, Message: "Invalid Request: the id is in use"})
		return
	}
	b.expect()
	s.count(r.Method)
	if on, ok := moments[r.Method]; ok {
		r.faults = s.struck(on, r)
	}
	if s.isFirst(r) || s.isSeized(r) {
		s.serve(r)
		return
	}
	s.serving.Add(1)
	go func() {
		defer s.serving.Done()
		s.serve(r)
	}()
}

// isFirst reports whether r opens the conversation and can be answered on the spot: nothing is in the way on stdout
// yet. It saves the wake-up of a thread in the time that hosts wait for.
func (s *server) isFirst(r *request) bool {
	if s.opened || (r.Method != "initialize" && r.Method != "server/discover") {
		return false
	}
	s.opened = true
	return !slices.ContainsFunc(r.faults, func(f Fault) bool { return f.action().slow })
}

// isSeized reports whether one of the faults of r keeps the first thread.
func (s *server) isSeized(r *request) bool {
	return slices.ContainsFunc(r.faults, func(f Fault) bool { return f.action().seizes })
}

// protest answers a line that is no valid request. Without an id it could be a notification, but then it is a broken
// one: JSON-RPC has the error sent with id null.
func (s *server) protest(r *request, bad *rpcError) {
	if r == nil {
		r = &request{}
	}
	if line, err := encodeAnswer(r.ID, nil, bad); err == nil {
		r.batch.expect()
		s.serving.Add(1)
		go func() {
			defer s.serving.Done()
			s.reply(r, line)
		}()
	}
}

// moments are the methods at which the script can strike.
var moments = map[string]string{
	"server/discover": onDiscover,
	"initialize":      onInitialize,
	"tools/list":      onList,
	"resources/list":  onListResources,
	"prompts/list":    onListPrompts,
	"tools/call":      onCall,
	"ping":            onPing,
}

// serve deals with one request.
func (s *server) serve(r *request) {
	if s.strike(r.faults, r) {
		return
	}
	result, failed := s.result(r)
	if failed == nil && r.Method == methodListen {
		s.listen(r)
		return
	}
	if failed != nil {
		s.refuse(r, failed.Code, failed.Message, failed.Data)
		return
	}
	s.answer(r, result)
}

func (s *server) result(r *request) (map[string]any, *rpcError) {
	if r.modern {
		return s.modernResult(r)
	}
	switch {
	case r.Method == "initialize":
		version := negotiate(r.params.ProtocolVersion)
		s.batches.Store(version == batchVersion)
		return s.initialized(version), nil
	case r.Method == "ping":
		return map[string]any{}, nil
	case isWork(r.Method) && !s.greeted.Load():
		return nil, &rpcError{Code: codeInvalid, Message: "initialize must come first"}
	}
	return s.work(r)
}

func (s *server) modernResult(r *request) (map[string]any, *rpcError) {
	if r.Method == "initialize" {
		return nil, s.noInitialize()
	}
	if failed := s.checkMeta(r); failed != nil {
		return nil, failed
	}
	switch r.Method {
	case "server/discover":
		return s.discovered(), nil
	case methodListen:
		return map[string]any{}, nil // no answer: see listen
	}
	return s.work(r)
}

// isWork says that a method is what a session is for: a list or a call.
func isWork(method string) bool { return listed[method] != nil || method == "tools/call" }

// work is the same in all eras.
func (s *server) work(r *request) (map[string]any, *rpcError) {
	switch list := listed[r.Method]; {
	case list != nil:
		return list(), nil
	case isWork(r.Method):
		return s.call(r)
	}
	return nil, &rpcError{Code: codeMethod, Message: "Method not found", Data: map[string]any{"method": clip(r.Method)}}
}

// clip keeps what a host made up from being sent back at length: whole characters, of 100 bytes at most.
func clip(s string) string {
	if len(s) <= 100 {
		return s
	}
	end := 100
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}

// Tools are the names of the tools.
var Tools = []string{"echo", "sleep", "whoami"}

// maxSleep is longer than any scenario wants.
const maxSleep = time.Hour

// toolList is the result of tools/list.
func toolList() map[string]any {
	object := func(properties map[string]any, required ...string) map[string]any {
		properties["session"] = map[string]any{"type": "string", "description": "Whose call this is, for the bench's record."}
		properties["nonce"] = map[string]any{"type": "string", "description": "Comes back in the result."}
		properties["own"] = map[string]any{"type": "boolean", "description": "That this server is for that session alone."}
		schema := map[string]any{"type": "object", "properties": properties}
		if len(required) > 0 {
			schema["required"] = required
		}
		return schema
	}
	return cacheable(map[string]any{"tools": []any{
		map[string]any{
			"name": "echo", "description": "Returns text.",
			"inputSchema": object(map[string]any{"text": map[string]any{"type": "string"}}),
		},
		map[string]any{
			"name": "sleep", "description": "Returns after ms milliseconds. Can be cancelled.",
			"inputSchema": object(map[string]any{"ms": map[string]any{"type": "integer", "minimum": 0, "maximum": maxSleep.Milliseconds()}}, "ms"),
		},
		map[string]any{
			"name": "whoami", "description": "Returns which process of the bench this is, as JSON.",
			"inputSchema": object(map[string]any{}),
		},
	}})
}

// call runs a tool. An *rpcError is a call that no correct client makes. The bench knows by the nonce in the result whose answer it is.
func (s *server) call(r *request) (map[string]any, *rpcError) {
	text, failed := s.use(r)
	if failed != nil {
		return nil, failed
	}
	return textResult(text + birth.NonceMark(nonceOf(r))), nil
}

// use returns what a tool says.
func (s *server) use(r *request) (string, *rpcError) {
	var args struct {
		Text string `json:"text"`
		MS   *int64 `json:"ms"`
	}
	if len(r.params.Arguments) > 0 {
		if err := json.Unmarshal(r.params.Arguments, &args); err != nil {
			return "", &rpcError{Code: codeParams, Message: "Invalid arguments: " + err.Error()}
		}
	}
	switch r.params.Name {
	case "echo":
		return args.Text, nil
	case "sleep":
		if args.MS == nil || *args.MS < 0 || *args.MS > maxSleep.Milliseconds() {
			return "", &rpcError{Code: codeParams, Message: fmt.Sprintf("Invalid arguments: ms must be 0 to %d", maxSleep.Milliseconds())}
		}
		s.wait(time.Duration(*args.MS)*time.Millisecond, r)
		return fmt.Sprintf("slept %d ms", *args.MS), nil
	case "whoami":
		return s.whoami(), nil
	}
	return "", &rpcError{Code: codeParams, Message: fmt.Sprintf("Unknown tool: %.100q", r.params.Name)}
}

// whoami names this process, so that a host's caller can tell two launches apart.
func (s *server) whoami() string {
	text, _ := json.Marshal(struct {
		PID     int    `json:"pid"`
		Label   string `json:"label"`
		Launch  int    `json:"launch"`
		Session string `json:"session,omitempty"`
	}{os.Getpid(), s.options.label, s.options.launch, s.options.session})
	return string(text)
}

func textResult(text string) map[string]any {
	return map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}}
}
