// Package record is the run file: its header, its events, and their writer and
// reader. A file says what happened and judges nothing.
package record

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/leakbench/leakbench/internal/files"
	"github.com/leakbench/leakbench/internal/lines"
)

// fileName is the name of a run file in its folder.
const fileName = "run.jsonl"

// MaxFile is the largest run file that is read or written, in bytes. In memory a run takes four to five times its file. The largest that
// was measured is of a host that leaked 200 servers (7.2 MiB). A soak, which bounds its file by itself, has at most 30 MiB.
const MaxFile = 256 << 20

// Errors of the reader.
var (
	errTooLarge = fmt.Errorf("larger than %d MiB, the most that a run file may have", MaxFile>>20)
	// errNotARun says that a file is something else than a run file.
	errNotARun = errors.New("not a leakbench run")
	// ErrNewerFormat says that a run file was written by a later version.
	ErrNewerFormat = errors.New("written in a newer format")
)

// Run is a run file that was read.
type Run struct {
	Header Header
	Events []Event
	// Truncated says why the file is not complete: a torn last line, no end event, a gap in the sequence. "" for a complete file.
	Truncated string
	last      Event // that was read
}

// Played returns the header as the run was played: with what the host declared in its hello.
func (r *Run) Played() Header {
	h := r.Header
	for _, e := range r.Events {
		if e.Kind != HostReady || e.Hello == nil {
			continue
		}
		if e.Hello.Profile != nil {
			h.Host.Profile = *e.Hello.Profile
		}
		if e.Hello.Limits != nil {
			h.Limits = *e.Hello.Limits
		}
	}
	return h
}

// Read reads a run file, or the one in a folder. Errors name the file; they
// wrap errNotARun, ErrNewerFormat or what the system said.
func Read(path string) (*Run, error) {
	path = Newest(path)
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("failed to read the run: %w", err)
	}
	file := path
	if info.IsDir() {
		file = filepath.Join(path, fileName)
	}
	if info, err := os.Stat(file); err == nil && info.Size() > MaxFile { // nothing of it is read
		return nil, fmt.Errorf("%s: %w", file, errTooLarge)
	}
	f, err := files.Open(file)
	if errors.Is(err, fs.ErrNotExist) && info.IsDir() {
		return nil, fmt.Errorf("%w: the folder %s has no %s%s", errNotARun, path, fileName, hintAt(path))
	}
	if err != nil {
		return nil, fmt.Errorf("failed to read the run: %w", err)
	}
	defer f.Close()
	run, err := Decode(f)
	if err != nil && info.Mode()&fs.ModeNamedPipe != 0 {
		return nil, fmt.Errorf("%s: %w; it is a pipe", file, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return run, nil
}

// latest is the name of the link to the newest run of a folder.
const latest = "latest"

// Newest is where a path leads that ends in "latest": where that link could not be made, as Windows makes none for most users, to the
// folder of the run that began last. Other paths are returned as they are.
func Newest(path string) string {
	if filepath.Base(path) != latest {
		return path
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return path
	}
	entries, _ := os.ReadDir(filepath.Dir(path))
	newest, begun := path, time.Time{}
	for _, e := range entries {
		run := filepath.Join(filepath.Dir(path), e.Name())
		if at := startOf(filepath.Join(run, fileName)); at.After(begun) {
			newest, begun = run, at
		}
	}
	return newest
}

// startOf is when the run of a file began: the zero time where the file is none of a run.
func startOf(path string) time.Time {
	f, err := os.Open(path)
	if err != nil {
		return time.Time{}
	}
	defer f.Close()
	var h Header
	if line, err := next(lines.New(bufio.NewReader(f), maxLine-1)); err != nil || json.Unmarshal(line, &h) != nil {
		return time.Time{}
	}
	return h.Started
}

// hintAt helps whoever names the folder of all runs in the place of one.
func hintAt(dir string) string {
	link := filepath.Join(dir, latest)
	if _, err := os.Stat(filepath.Join(Newest(link), fileName)); err != nil {
		return ""
	}
	return "; did you mean " + link + "?"
}

// Decode reads a run file. A file that lacks lines is a Run that says so in Truncated, with the events before the first
// that is missing. One that holds anything else than events in their order is an error that names the line.
func Decode(r io.Reader) (*Run, error) {
	limited := &io.LimitedReader{R: r, N: MaxFile + 1}
	in, run := lines.New(bufio.NewReaderSize(limited, 64<<10), maxLine-1), &Run{}
	first, err := next(in)
	switch {
	case errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%w: the file is empty", errNotARun)
	case errors.Is(err, errTorn):
		return nil, fmt.Errorf("%w: the first line is not a whole header", errNotARun)
	case errors.Is(err, errTooLong):
		return nil, fmt.Errorf("%w: the first line is %w", errNotARun, err)
	case err == nil:
		err = run.Header.decode(first)
	}
	if err != nil {
		return nil, err
	}
	for n := 2; ; n++ {
		line, err := next(in)
		switch {
		case limited.N <= 0:
			return nil, errTooLarge
		case err == nil:
			err = run.add(line)
		case errors.Is(err, io.EOF):
			run.finish()
			return run, nil
		case errors.Is(err, errTorn):
			run.Truncated = cmp.Or(run.Truncated, fmt.Sprintf("line %d, the last one, is torn", n))
			return run, nil
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
}

// decode decodes the first line.
func (h *Header) decode(line []byte) error {
	var mark struct {
		Format  string          `json:"format"`
		Version json.RawMessage `json:"version"`
		Tool    json.RawMessage `json:"tool"`
	}
	if err := json.Unmarshal(line, &mark); err != nil || mark.Format != Format {
		return fmt.Errorf("%w: the first line is not the header of one", errNotARun)
	}
	var version int
	if err := json.Unmarshal(mark.Version, &version); err != nil || version < 1 {
		return fmt.Errorf("%w: the header has no version", errNotARun)
	}
	if version > Version {
		return fmt.Errorf("%w: the file has version %d%s, this leakbench reads up to %d; a newer leakbench reads it",
			ErrNewerFormat, version, writtenBy(mark.Tool), Version)
	}
	if err := json.Unmarshal(line, h); err != nil {
		return fmt.Errorf("line 1: a broken header: %w", err)
	}
	if err := h.check(line); err != nil {
		return fmt.Errorf("line 1: %w", err)
	}
	return nil
}

// writtenBy names the version that wrote a file, if the file says it.
func writtenBy(tool json.RawMessage) string {
	var t Tool
	if json.Unmarshal(tool, &t) != nil || t.Version == "" {
		return ""
	}
	return fmt.Sprintf(" (written by leakbench %.40q)", t.Version)
}

// maxTime is longer than any run takes, in nanoseconds: a year.
const maxTime = int64(366 * 24 * time.Hour)

// add decodes an event. A number that is left out is a gap; one that comes
// again, or a time that runs back, is no file that a Writer wrote.
func (r *Run) add(line []byte) error {
	var e Event
	if err := json.Unmarshal(line, &e); err != nil {
		return fmt.Errorf("not an event: %w", err)
	}
	if err := e.Check(); err != nil {
		return err
	}
	last := r.last
	switch {
	case last.Kind == Ended:
		return errors.New("an event after the end event")
	case e.Seq <= last.Seq:
		return fmt.Errorf("event %d after event %d", e.Seq, last.Seq)
	case e.T < last.T:
		return fmt.Errorf("event %d is earlier than the one before it", e.Seq)
	case e.T > maxTime:
		return fmt.Errorf("event %d is more than a year after the start", e.Seq)
	}
	r.last = Event{Seq: e.Seq, T: e.T, Kind: e.Kind}
	switch { // the first gap is reported, and no event behind it is kept: the missing one may have changed what it means
	case r.Truncated != "":
		return nil
	case e.Seq == last.Seq+2:
		r.Truncated = fmt.Sprintf("event %d is missing, and what follows it is not judged", last.Seq+1)
	case e.Seq > last.Seq+2:
		r.Truncated = fmt.Sprintf("events %d to %d are missing, and what follows them is not judged", last.Seq+1, e.Seq-1)
	default:
		r.Events = append(r.Events, e)
	}
	return nil
}

// finish settles whether the run is complete.
func (r *Run) finish() {
	switch {
	case r.Truncated != "" || r.last.Kind == Ended:
	case r.last.Seq == 0:
		r.Truncated = "there is nothing after the header"
	default:
		r.Truncated = fmt.Sprintf("there is no end event after event %d", r.last.Seq)
	}
}

var (
	errTorn    = errors.New("torn")
	errTooLong = fmt.Errorf("longer than %d MiB", maxLine>>20)
)

// next is the next line, valid until the call after. The error is io.EOF behind the last line, errTorn for a last one
// without a newline, errTooLong, or the stream's own.
func next(in *lines.Reader) ([]byte, error) {
	line, err := in.Next()
	switch {
	case errors.Is(err, lines.ErrTooLong):
		return nil, errTooLong
	case errors.Is(err, io.EOF) && len(line) > 0:
		return nil, errTorn
	}
	return line, err
}
