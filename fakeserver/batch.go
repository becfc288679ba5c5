package fakeserver

import (
	"bytes"
	"encoding/json"
	"sync"
)

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

// isBatch reports whether a line is an array of messages, and one that may come:
// in every other version it is no valid message.
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

// gather puts an answer to the others, or says with nil that none will come. It
// sends them with the last one.
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
