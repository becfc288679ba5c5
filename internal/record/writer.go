package record

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// maxLine is the longest line of a run file, its newline included, in bytes.
const maxLine = 16 << 20

// Errors of a writer that is used out of order. They are not sticky: nothing was written, and the file is as it was.
var (
	errNoHeader = errors.New("the run file has no header yet")
	errEnded    = errors.New("the run file has its end event")
)

// keepBuffer is the largest encoding buffer that is kept from one event to the
// next: a census of thousands of processes must not stay in memory for good.
const keepBuffer = 1 << 20

// Writer writes a run file. It is safe for concurrent use.
type Writer struct {
	mu      sync.Mutex
	file    *os.File
	reserve *reserve
	line    bytes.Buffer
	size    int64
	base    time.Time // monotonic; zero: no header yet
	seq     int64
	last    int64 // T of the last event
	ended   bool
	err     error // sticky
}

// Create makes a run file and the folders above it. It never overwrites one: then the error is an fs.ErrExist. Space
// for the file is taken at once, so that a full disk and a read-only folder are errors here, before anything runs. A
// file that could not be made ready is removed again.
func Create(path string) (*Writer, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("failed to make the folder of the run file: %w", err)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("failed to create the run file: %w", err)
	}
	space, err := takeReserve(file)
	if err != nil {
		_ = file.Close()
		_ = os.Remove(path)
		return nil, fmt.Errorf("failed to reserve space for the run file %s: %w", path, err)
	}
	return &Writer{file: file, reserve: space}, nil
}

// WriteHeader writes the first line. Format, Version and Started are filled in
// where they are zero; event times count from Started.
func (w *Writer) WriteHeader(h Header) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	if !w.base.IsZero() {
		return errors.New("the run file has a header already")
	}
	now := time.Now()
	h.Format, h.Version = cmp.Or(h.Format, Format), cmp.Or(h.Version, h.version())
	if h.Started.IsZero() {
		h.Started = now.UTC()
	}
	w.base = now.Add(-max(0, now.Sub(h.Started)))
	h = h.WithoutSecrets()
	if err := w.encode(&h); err != nil {
		return w.fail(err)
	}
	if w.line.Len() > maxLine {
		return w.fail(fmt.Errorf("the header has %d bytes, a line may have %d", w.line.Len(), maxLine))
	}
	return w.write()
}

// Add stamps an event with its Seq and T and appends it with one write. It returns the event as written: without secrets, or a
// DoubtTooLong in the place of one that is too long. Once a write has failed, that error is returned for good: the
// torn line stays the last one.
func (w *Writer) Add(e Event) (Event, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.err != nil:
		return e, w.err
	case w.base.IsZero():
		return e, errNoHeader
	case w.ended:
		return e, errEnded
	}
	if err := e.Check(); err != nil {
		return e, w.fail(err)
	}
	e = e.WithoutSecrets()
	e.Seq, e.T = w.seq+1, max(w.last, int64(time.Since(w.base)))
	if err := w.encode(&e); err != nil {
		return e, w.fail(err)
	}
	if n := w.line.Len(); n > maxLine {
		e = Event{Seq: e.Seq, T: e.T, Kind: Doubted, Doubt: &Doubt{
			Code: DoubtTooLong, Text: fmt.Sprintf("an event of kind %q has %d bytes, a line may have %d: it was left out", e.Kind, n, maxLine),
		}}
		if err := w.encode(&e); err != nil {
			return e, w.fail(err)
		}
	}
	if err := w.write(); err != nil {
		return e, err
	}
	w.seq, w.last, w.ended = e.Seq, e.T, e.Kind == Ended
	return e, nil
}

// Err is the error that ended the writing, or nil.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if errors.Is(w.err, os.ErrClosed) {
		return nil
	}
	return w.err
}

// Close gives the reserved space back and makes the file durable. Its error is about that alone: what went wrong
// before is Err's. A second call does nothing.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file == nil {
		return nil
	}
	err := errors.Join(w.reserve.release(w.file), w.file.Sync(), w.file.Close())
	w.file, w.reserve = nil, nil
	if w.err == nil {
		w.err = fmt.Errorf("failed to write the run file: %w", os.ErrClosed)
	}
	if err != nil {
		return fmt.Errorf("failed to close the run file: %w", err)
	}
	return nil
}

// encode puts the line of v into w.line.
func (w *Writer) encode(v any) error {
	if w.line.Cap() > keepBuffer {
		w.line = bytes.Buffer{}
	}
	w.line.Reset()
	enc := json.NewEncoder(&w.line)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// write appends w.line. A reserve that is a file of its own is given up for the line that finds the disk full.
func (w *Writer) write() error {
	line := w.line.Bytes()
	if w.size += int64(len(line)); w.size > MaxFile {
		return w.fail(errTooLarge)
	}
	n, err := w.file.Write(line)
	if err != nil && w.reserve.spend() {
		_, err = w.file.Write(line[n:])
	}
	if err != nil {
		return w.fail(err)
	}
	return nil
}

// ErrWrite says that a run file can't be written any more: what it holds is what could be saved.
var ErrWrite = errors.New("failed to write the run file")

func (w *Writer) fail(err error) error {
	w.err = fmt.Errorf("%w: %w", ErrWrite, err)
	return w.err
}
