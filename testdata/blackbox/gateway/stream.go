package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// stream is a client of the SSE transport: it is there as long as its stream is, and what it posts is answered on that.
type stream struct {
	ctx     context.Context
	answers chan message
}

func (g *gateway) serveStream(w http.ResponseWriter, r *http.Request) {
	s := &stream{r.Context(), make(chan message)}
	g.mu.Lock()
	g.next++
	id := fmt.Sprint("stream-", g.next)
	g.streams[id] = s
	g.mu.Unlock()
	defer g.endSession(id, g.leak == "closed")
	w.Header().Set("Content-Type", "text/event-stream")
	say := func(event string, data []byte) {
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, data)
		_ = http.NewResponseController(w).Flush()
	}
	say("endpoint", []byte("/message?stream="+id))
	for {
		select {
		case m := <-s.answers:
			text, _ := json.Marshal(m)
			say("message", text)
		case <-r.Context().Done():
			return
		}
	}
}

// post takes a message of a stream's client.
func (g *gateway) post(w http.ResponseWriter, r *http.Request) {
	id := r.URL.Query().Get("stream")
	g.mu.Lock()
	stream, s := g.streams[id], g.sessions[id]
	g.mu.Unlock()
	var m message
	if stream == nil || json.NewDecoder(io.LimitReader(r.Body, 16<<20)).Decode(&m) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusAccepted)
	switch {
	case len(m.ID) > 0:
		go func() {
			select {
			case stream.answers <- g.reply(stream.ctx, id, s, m):
			case <-stream.ctx.Done():
			}
		}()
	case s != nil && m.Method == "notifications/initialized":
		s.notify(m.Method, nil)
	}
}

// reply answers a request of a stream's client.
func (g *gateway) reply(ctx context.Context, id string, s *session, m message) (a message) {
	var err error
	switch {
	case m.Method == "initialize":
		a, err = g.begin(ctx, id, nil, m)
	case s == nil:
		err = fmt.Errorf("%s before initialize", m.Method)
	default:
		a, err = s.request(ctx, m.Method, m.Params)
	}
	return a.answering(m, err)
}
