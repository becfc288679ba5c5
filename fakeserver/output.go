package fakeserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/leakbench/leakbench/fakeserver/birth"
)

// output is stdout. Nothing that becomes of it ends the server: a host that has stopped reading is one of the things to be seen.
type output struct {
	mu     sync.Mutex
	file   *os.File
	silent atomic.Bool
}

// open reports whether an answer still has a chance to reach the host.
func (o *output) open() bool { return !o.silent.Load() }

// mute drops all further lines.
func (o *output) mute() { o.silent.Store(true) }

// close closes stdout. It does not wait for a line that is being written: the host may have left the pipe full.
func (o *output) close() {
	o.mute()
	_ = o.file.Close()
}

// line writes one line, its end included. After an error nothing more is
// written. EPIPE comes back as an error because SIGPIPE is ignored.
func (o *output) line(b []byte) error { return o.stream(b, nil, nil, 0) }

// stream writes a line whose middle is part, times times.
func (o *output) stream(before, part, after []byte, times int) error {
	if !o.open() {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.open() {
		return nil
	}
	err := o.write(before)
	for i := 0; i < times && err == nil; i++ {
		err = o.write(part)
	}
	if err == nil {
		err = o.write(after)
	}
	return err
}

func (o *output) write(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	_, err := o.file.Write(b)
	if err != nil {
		o.mute()
	}
	return err
}

// last writes b, and nothing comes behind it.
func (o *output) last(b []byte) error {
	if !o.open() {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	err := o.write(b)
	o.mute()
	return err
}

// force writes b even where everything before has failed.
func (o *output) force(b []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.write(b)
}

// filler stands where an action puts what spoils a line.
const filler = "leakbench-filler"

// splitLine is the line that r is rightly answered with, cut where something can be put into it: a text in its _meta,
// or in the data of an error. Without a request it is a notification.
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
	line, _ := encodeAnswer(r.ID, result, failed)
	return line
}

// sendSplit sends the line with part in it, times times. A request counts as answered by it, if an answer is still wanted.
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

// The most that the bench gets of a server's stderr.
const (
	toldWrites = 32  // of a process
	toldBytes  = 400 // of a write
	bigWrite   = 64 << 10
)

// stderrTap is stderr, with a copy for the bench: where a host mixes the stderr of all its servers, or throws it away, nobody else
// knows which process wrote what. The bench gets the copy before the write, which may wait for a reader for ever. If a pipe can't hold
// the write, the bench also hears when it has ended.
type stderrTap struct {
	to    io.Writer
	bench bench
	mu    sync.Mutex
	n     int
}

func (w *stderrTap) Write(p []byte) (int, error) {
	w.tell(excerpt(p))
	n, err := w.to.Write(p)
	if err == nil && len(p) > bigWrite {
		w.tell(fmt.Sprintf("somebody has read it: %d KiB went out", len(p)>>10))
	}
	return n, err
}

func (w *stderrTap) tell(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.n++; w.n > toldWrites {
		return
	}
	if w.n == toldWrites {
		text = "what follows is not told"
	}
	w.bench.note(birth.Note{Note: birth.NoteStderr, Text: text})
}

// excerpt is a short write as it is, and of a long one how long it is and its first line.
func excerpt(p []byte) string {
	if len(p) <= toldBytes {
		return strings.ToValidUTF8(strings.TrimRight(string(p), "\n"), "\uFFFD")
	}
	first, _, _ := bytes.Cut(p[:toldBytes], []byte("\n"))
	return fmt.Sprintf("%d KiB, which begin: %s", (len(p)+1023)>>10, strings.ToValidUTF8(string(first), "\uFFFD"))
}
