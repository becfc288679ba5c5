package fakeserver

import (
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/leakbench/leakbench/fakeserver/birth"
)

// request is a message that wants an answer, or a notification (no ID).
type request struct {
	message
	modern    bool
	batch     *batch        // that it came in, or nil
	faults    []Fault       // what it is met with
	cancelled chan struct{} // closed when no answer is wanted any more
	dropped   bool          // a wait for it was cut short: nothing is to be done for it
}

// flight is the requests that were not answered yet, by their id.
type flight struct {
	mu  sync.Mutex
	all map[string]*request
}

// add reports whether the id was free.
func (f *flight) add(r *request) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all[string(r.ID)] != nil {
		return false
	}
	f.all[string(r.ID)] = r
	return true
}

// land takes r out, for its answer. It reports whether one is still wanted.
func (f *flight) land(r *request) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all[string(r.ID)] != r {
		return false
	}
	delete(f.all, string(r.ID))
	return true
}

// cancel takes the request with this id out: nothing more is sent for it.
// initialize can't be cancelled (2025-11-25, basic/utilities/cancellation).
func (f *flight) cancel(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r := f.all[id]; r != nil && r.Method != "initialize" {
		delete(f.all, id)
		close(r.cancelled)
	}
}

// wait lets d pass. It drops the request when there is nothing to wait for any more: it was cancelled, or the server
// is ending, which answers what it can but does not wait for what sleeps.
func (s *server) wait(d time.Duration, r *request) {
	select {
	case <-time.After(d):
		return
	case <-r.cancelled:
	case <-s.stopping:
		s.flight.land(r)
	}
	r.dropped = true
}

// noted are the methods that the bench hears of.
var noted = []string{
	"initialize", "server/discover", "notifications/initialized", "tools/list", "resources/list", "prompts/list",
	"tools/call", "ping", methodCancelled, methodListen,
}

// The methods that are about other requests.
const (
	methodCancelled = "notifications/cancelled"
	methodListen    = "subscriptions/listen"
)

// tell notes what became of a message.
func (s *server) tell(r *request, phase string) {
	if !contains(noted, r.Method) {
		return
	}
	info := birth.RPC{Method: r.Method, ID: string(r.ID), Phase: phase}
	if r.Method == "tools/call" {
		info.Tool = r.params.Name
	}
	if r.Method == methodCancelled {
		info.ID = string(r.params.RequestID) // of the request that it is about
	}
	if phase == "received" {
		info.Session, info.Own = asker(r)
		info.Nonce = nonceOf(r)
	}
	s.bench.rpc(info)
}

// asker is the session of the bench's own client that a message comes from,
// through a gateway, where it names one; and whether this server is for it alone.
func asker(r *request) (session string, own bool) {
	switch r.Method {
	case "initialize":
		if name, ok := strings.CutPrefix(r.params.ClientInfo.Name, birth.ClientPrefix); ok {
			return name, name != ""
		}
	case "tools/call":
		var args struct {
			Session string `json:"session"`
			Own     bool   `json:"own"`
		}
		_ = json.Unmarshal(r.params.Arguments, &args) // the call says what is wrong with them
		return args.Session, args.Own && args.Session != ""
	}
	return "", false
}

// nonceOf is what the bench has put into the arguments of a call to know it again, or "".
func nonceOf(r *request) string {
	var args struct {
		Nonce string `json:"nonce"`
	}
	if r.Method == "tools/call" {
		_ = json.Unmarshal(r.params.Arguments, &args) // the call says what is wrong with them
	}
	return clip(args.Nonce)
}

// answer sends a result, if one is still wanted. The bench hears of it first:
// what the host does on the answer must come later in the record.
func (s *server) answer(r *request, result map[string]any) {
	s.finish(r, "answered", forEra(r, result), nil)
}

// refuse sends an error, if an answer is still wanted.
func (s *server) refuse(r *request, code int, text string, data any) {
	s.finish(r, "refused", nil, &rpcError{Code: code, Message: text, Data: data})
}

func (s *server) finish(r *request, phase string, result map[string]any, failed *rpcError) {
	line, err := encodeAnswer(r.ID, result, failed)
	if err != nil || !s.flight.land(r) || !s.out.open() {
		if r.batch != nil {
			s.gather(r.batch, nil)
		}
		return
	}
	s.tell(r, phase)
	s.reply(r, line)
}
