package fakeserver

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"time"
)

// pipeActions are about what goes over the pipes, and who no longer reads or writes them.
var pipeActions = []action{
	{
		name: "progress", text: "never answers, and sends progress notifications forever (each), even after a cancel",
		on:    []string{onDiscover, onInitialize, onList, onCall},
		takes: []string{"each"}, decides: true, breaks: always, slow: true,
		commit: func(s *server, f Fault, r *request) {
			s.report(r.progressToken(), cmp.Or(time.Duration(f.Each), progressPause))
		},
	},
	{
		name: "banner", text: "writes lines that are not protocol to stdout, then continues correctly",
		on:     []string{onStart, onDiscover, onInitialize, onList, onCall, onOrder},
		breaks: always, passable: true,
		commit: func(s *server, _ Fault, _ *request) {
			s.say([]byte(banner))
		},
	},
	{
		name: "partial", text: "writes the beginning of a line (bytes), but never its end, and nothing more to stdout",
		on:    []string{onDiscover, onInitialize, onList, onListResources, onListPrompts, onCall, onOrder},
		takes: []string{"bytes"}, decides: true, breaks: always, slow: true,
		commit: func(s *server, f Fault, r *request) {
			before, _ := s.splitLine(r)
			if f.Bytes > 0 {
				before = append(before, bytes.Repeat([]byte("x"), max(f.Bytes-len(before), 0))...)[:f.Bytes]
			}
			s.onWriteError(s.out.last(before))
		},
	},
	{
		name: "bad-utf8", text: "answers correctly, but with invalid UTF-8 in _meta; on order: in an unsolicited notification",
		on:      []string{onDiscover, onInitialize, onList, onCall, onOrder},
		decides: true, breaks: always, passable: true, slow: true,
		commit: func(s *server, _ Fault, r *request) {
			before, after := s.splitLine(r)
			s.sendSplit(r, before, []byte(badUTF8), after, 1)
		},
	},
	{
		name: "long-line", text: "answers correctly, in one line of mib MiB (16); on order: in an unsolicited notification",
		on:    []string{onDiscover, onInitialize, onList, onCall, onOrder},
		takes: []string{"mib"}, decides: true, breaks: always, passable: true, slow: true,
		commit: func(s *server, f Fault, r *request) {
			before, after := s.splitLine(r)
			s.sendSplit(r, before, bytes.Repeat([]byte("x"), mebi), after, cmp.Or(f.MiB, longLine))
		},
	},
	{
		name: "flood-stderr", text: "writes mib MiB (1) to stderr, blocks as long as nobody reads it, then continues correctly",
		on:    []string{onStart, onDiscover, onInitialize, onList, onCall, onEOF, onOrder},
		takes: []string{"mib"}, seizes: true,
		commit: func(s *server, f Fault, _ *request) {
			mib := cmp.Or(f.MiB, floodStderr)
			if f.On == onOrder {
				go s.flood(mib) // orders go on to be heard
			} else {
				s.flood(mib)
			}
		},
	},
	{
		name: "stop-reading", text: "never reads stdin again, not even EOF, and does not answer; on order: from the next line on",
		on:      []string{onDiscover, onInitialize, onList, onCall, onOrder},
		decides: true, breaks: always, seizes: true, silences: onEOF,
		commit: func(s *server, f Fault, _ *request) {
			if f.On != onOrder {
				park()
			}
			s.handOver(park)
		},
	},
	{
		name: "write", text: "writes one more line to stdout, survives if nobody reads it, and reports the result in its last message (EPIPE)",
		on: []string{onEOF, onTerm, onExit},
		commit: func(s *server, f Fault, _ *request) {
			err := s.out.force(notification("notifications/message", map[string]any{"level": "info", "data": "one more line"}))
			words := fmt.Sprintf("a line written on %s was taken", f.On)
			switch {
			case isBrokenPipe(err):
				words = fmt.Sprintf("a line written on %s met EPIPE", f.On)
			case err != nil:
				words = fmt.Sprintf("a line written on %s failed: %v", f.On, err)
			}
			s.lastWords.Store(&words)
			s.onWriteError(err)
		},
	},
	{
		name: "spin", text: "is busy forever and does nothing else; on eof: reads EOF again and again; on epipe: writes again and again",
		on:      []string{onInitialize, onCall, onEOF, onEPIPE, onOrder},
		decides: true, breaks: func(on string) bool { return on != onEOF }, passive: atEnd, seizes: true, silences: onEOF,
		commit: func(s *server, f Fault, _ *request) {
			busy := s.busy(f.On)
			if f.On == onOrder {
				go s.takeOver(busy)
			} else {
				s.takeOver(busy)
			}
		},
	},
}

// progressPause is the pause between two notifications where the script gives none.
const progressPause = 100 * time.Millisecond

// progressToken is the one that the host chose, or, from a server that does
// not care whether it was given one, the id of the request.
func (r *request) progressToken() json.RawMessage {
	if token := r.params.Meta["progressToken"]; len(token) > 0 {
		return token
	}
	return r.ID
}

// report sends progress until the server ends or nobody can read it.
func (s *server) report(token json.RawMessage, pause time.Duration) {
	t := time.NewTicker(pause)
	defer t.Stop()
	for n := 1; s.out.open(); n++ {
		s.say(notification("notifications/progress", map[string]any{"progressToken": token, "progress": n}))
		select {
		case <-t.C:
		case <-s.stopping:
			return
		}
	}
}

// banner is what servers print that take stdout for a place to talk on: no
// protocol, colours, an empty line, and one that looks like JSON.
const banner = "leakbench-fakeserver v1.0.0\n" +
	"\x1b[32m[info]\x1b[0m listening on stdio, press ^C to end\n" +
	"\n" +
	`{"level":"info","msg":"ready"}` + "\n"

// badUTF8 has a byte that no UTF-8 has, half a character, one in too many bytes, and half of a surrogate pair.
const badUTF8 = "\xff \xe2\x82 \xc0\xaf \xed\xa0\x80"

// longLine is the length in MiB where the script gives none: more than most readers of lines take.
const longLine = 16

// floodStderr is how much is written, in MiB, where the script says nothing: many times what a pipe holds (64 KiB, pipe(7)).
const floodStderr = 1

func (s *server) flood(mib int) {
	const text = "WARN leakbench-fakeserver: nobody reads this, or somebody does ..\n"
	chunk := bytes.Repeat([]byte(text), mebi/len(text)+1)[:mebi]
	chunk[mebi-1] = '\n'
	for range mib {
		if _, err := s.bench.stderr.Write(chunk); err != nil {
			return
		}
	}
}

// park waits for ever.
func park() { select {} }

// busy is one turn of the loop that a moment is followed by.
func (s *server) busy(on string) func() {
	switch on {
	case onEOF:
		buf := make([]byte, 1)
		return func() { _, _ = s.in.Read(buf) }
	case onEPIPE:
		line := notification("notifications/message", map[string]any{"level": "error", "data": "stdout is gone"})
		return func() { _ = s.out.force(line) }
	}
	return func() {}
}
