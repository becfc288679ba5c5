package fakeserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"sync"
)

// JSON-RPC error codes, and the one that MCP adds.
const (
	codeParse    = -32700
	codeInvalid  = -32600
	codeMethod   = -32601
	codeParams   = -32602
	codeInternal = -32603
	codeVersion  = -32022
)

// maxMessage caps a line on stdin, in bytes.
const maxMessage = 16 << 20

// message is a line from the host.
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`

	params params
}

// params are the parameters of all methods that the server knows.
type params struct {
	ProtocolVersion string                     `json:"protocolVersion"`
	Name            string                     `json:"name"`
	ClientInfo      struct{ Name string }      `json:"clientInfo"`
	Arguments       json.RawMessage            `json:"arguments"`
	RequestID       json.RawMessage            `json:"requestId"`
	Notifications   json.RawMessage            `json:"notifications"`
	Meta            map[string]json.RawMessage `json:"_meta"`
}

// rpcError is the error of a JSON-RPC answer.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (e *rpcError) Error() string { return e.Message }

// isRequest reports whether the message wants an answer. A null id is one of
// a request that nobody may send; it is answered with an error.
func (m *message) isRequest() bool { return len(m.ID) > 0 }

// parseMessage reads one line. The error is an *rpcError; the message has
// what could be read of it, so that the error can be answered.
func parseMessage(line []byte) (message, error) {
	var m message
	if !json.Valid(line) {
		return m, &rpcError{Code: codeParse, Message: "Parse error"}
	}
	if err := json.Unmarshal(line, &m); err != nil {
		return message{ID: validID(m.ID)}, &rpcError{Code: codeInvalid, Message: "Invalid Request: " + err.Error()}
	}
	if m.ID != nil && validID(m.ID) == nil {
		m.ID = nil
		return m, &rpcError{Code: codeInvalid, Message: "Invalid Request: the id must be a string or an integer"}
	}
	if m.JSONRPC != "2.0" {
		return m, &rpcError{Code: codeInvalid, Message: `Invalid Request: jsonrpc must be "2.0"`}
	}
	if len(m.Params) > 0 {
		if err := json.Unmarshal(m.Params, &m.params); err != nil {
			return m, &rpcError{Code: codeParams, Message: "Invalid params: " + err.Error()}
		}
	}
	return m, nil
}

// validID is id if it is a string or a number, which is all that MCP allows.
func validID(id json.RawMessage) json.RawMessage {
	id = bytes.TrimSpace(id)
	if len(id) == 0 || (id[0] != '"' && id[0] != '-' && (id[0] < '0' || id[0] > '9')) {
		return nil
	}
	return id
}

// encodeAnswer is the line that answers id: with a result, or with an error.
// Without an id the error has id null, as JSON-RPC wants it.
func encodeAnswer(id json.RawMessage, result map[string]any, failed *rpcError) ([]byte, error) {
	if len(id) == 0 {
		id = json.RawMessage("null")
	}
	if (result == nil) == (failed == nil) {
		return nil, errors.New("an answer has either a result or an error")
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  map[string]any  `json:"result,omitzero"`
		Error   *rpcError       `json:"error,omitempty"`
	}{"2.0", id, result, failed})
	return b.Bytes(), err
}

// batchVersion is the one version of the protocol that has batches. A server
// that speaks it need not send any, but must take them (2025-03-26, basic).
const batchVersion = "2025-03-26"

// batch gathers the answers to what came in one array. They go out in one, too,
// when all are there: a request that is never answered keeps the others waiting.
type batch struct {
	mu    sync.Mutex
	lacks int
	lines [][]byte
}

// isBatch reports whether a line is an array of messages, and one that may come: in every other version it is no valid message.
func (s *server) isBatch(line []byte) (members []json.RawMessage, ok bool) {
	if !s.batches.Load() || !bytes.HasPrefix(bytes.TrimSpace(line), []byte("[")) {
		return nil, false
	}
	err := json.Unmarshal(line, &members)
	return members, err == nil && len(members) > 0
}

// receiveBatch takes in the messages of an array, one after the other.
func (s *server) receiveBatch(members []json.RawMessage) {
	b := &batch{lacks: 1} // until all are taken in
	for _, m := range members {
		s.take(m, b)
	}
	s.gather(b, nil)
}

// expect says that one more answer is to come.
func (b *batch) expect() {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lacks++
}

// gather puts an answer to the others, or says with nil that none will come. It sends them with the last one.
func (s *server) gather(b *batch, line []byte) {
	b.mu.Lock()
	if line != nil {
		b.lines = append(b.lines, bytes.TrimSpace(line))
	}
	b.lacks--
	done := b.lacks == 0 && len(b.lines) > 0
	b.mu.Unlock()
	if done {
		s.say([]byte("[" + string(bytes.Join(b.lines, []byte(","))) + "]\n"))
	}
}

// reply sends the answer to a request, by itself or with those of its batch.
func (s *server) reply(r *request, line []byte) {
	if r.batch != nil {
		s.gather(r.batch, line)
		return
	}
	s.say(line)
}
