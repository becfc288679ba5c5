package fakeserver

import (
	"bytes"
	"encoding/json"
)

// filler stands where an action puts what spoils a line.
const filler = "leakbench-filler"

// splitLine is the line that r is rightly answered with, cut where something
// can be put into it: a text in its _meta, or in the data of an error. Without
// a request it is a notification.
func (s *server) splitLine(r *request) (before, after []byte) {
	line := notification("notifications/message", map[string]any{"level": "info", "data": filler})
	if r != nil {
		line = s.filledAnswer(r)
	}
	before, after, _ = bytes.Cut(line, []byte(filler))
	return before, after
}

func (s *server) filledAnswer(r *request) []byte {
	result, failed := s.result(r)
	if failed != nil {
		failed.Data = map[string]any{"leakbench/filler": filler}
	} else {
		result = forEra(r, result)
		meta, _ := result["_meta"].(map[string]any)
		if meta == nil {
			meta = map[string]any{}
		}
		meta["leakbench/filler"] = filler
		result["_meta"] = meta
	}
	line, _ := encodeAnswer(r.ID, orNil(result), failed)
	return line
}

// sendSplit sends the line with part in it, times times. A request counts as
// answered by it, if an answer is still wanted.
func (s *server) sendSplit(r *request, before, part, after []byte, times int) {
	if r != nil {
		if !s.flight.land(r) || !s.out.open() {
			return
		}
		s.tell(r, "answered")
		if r.batch != nil {
			s.gather(r.batch, nil) // it goes out by itself
		}
	}
	s.onWriteError(s.out.stream(before, part, after, times))
}

// notification is the line of a message that wants no answer.
func notification(method string, params map[string]any) []byte {
	line, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
	return append(line, '\n')
}
