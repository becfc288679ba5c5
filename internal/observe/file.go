package observe

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/leakbench/leakbench/internal/record"
)

// File is the open file of a run. It is safe for concurrent use, and keeps the order of the calls.
type File struct {
	lock sync.Locker
	seen func(record.Event)
	log  eventLog // nil: the run has ended
}

// eventLog is a record.Writer, or what stands for one.
type eventLog interface {
	WriteHeader(record.Header) error
	Add(record.Event) (record.Event, error)
	Err() error
	Close() error
}

// Create makes the file. Each event that is in it is shown to seen, under the lock.
func Create(path string, lock sync.Locker, seen func(record.Event)) (*File, error) {
	w, err := record.Create(path)
	if err != nil {
		return nil, err
	}
	return &File{lock, seen, w}, nil
}

// InMemory is a run without a file: only seen has its events.
func InMemory(lock sync.Locker, seen func(record.Event)) *File {
	return &File{lock, seen, &memory{}}
}

// WriteHeader writes the first line. After it come events.
func (f *File) WriteHeader(h record.Header) error { return f.log.WriteHeader(h) }

// Emit writes an event down. After the end of the run it does nothing. The error of an event that could not be written is that of all later
// ones, and of the end.
func (f *File) Emit(e record.Event) {
	f.lock.Lock()
	defer f.lock.Unlock()
	f.Write(e)
}

// Write is Emit for a caller that holds the lock.
func (f *File) Write(e record.Event) {
	if f.log == nil {
		return
	}
	if e, err := f.log.Add(e); err == nil {
		f.seen(e)
	}
}

// Add is Emit for a caller that has to know whether the event is in the file. An event that may be in no file changes nothing.
func (f *File) Add(e record.Event) error {
	if err := e.Check(); err != nil {
		return err
	}
	f.Emit(e)
	return f.Err()
}

// Doubt writes down why the run can't be called clean.
func (f *File) Doubt(code record.DoubtCode, format string, args ...any) {
	f.Emit(record.Event{Kind: record.Doubted, Doubt: &record.Doubt{Code: code, Text: fmt.Sprintf(format, args...)}})
}

// Err is the error that has ended the writing, or nil.
func (f *File) Err() error {
	f.lock.Lock()
	defer f.lock.Unlock()
	if f.log == nil {
		return nil
	}
	return f.log.Err()
}

// Over says that the run has its end event.
func (f *File) Over() bool {
	f.lock.Lock()
	defer f.lock.Unlock()
	return f.log == nil
}

// End writes down how a run has ended that came to an error, or to none, and closes the file.
func (f *File) End(err error) error {
	f.Emit(record.Event{Kind: record.Ended, End: endOf(err)})
	f.lock.Lock()
	log := f.log
	f.log = nil
	f.lock.Unlock()
	return errors.Join(log.Err(), log.Close())
}

// memory counts events as a record.Writer does, and keeps none.
type memory struct {
	begun time.Time
	seq   int64
}

func (m *memory) WriteHeader(h record.Header) error {
	m.begun = h.Started
	return nil
}

func (m *memory) Add(e record.Event) (record.Event, error) {
	m.seq++
	e = e.WithoutSecrets()
	e.Seq, e.T = m.seq, int64(time.Since(m.begun))
	return e, nil
}

func (*memory) Err() error { return nil }

func (*memory) Close() error { return nil }
