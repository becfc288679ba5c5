package record

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/leakbench/leakbench/internal/lines"
)

// fileName is the name of a run file in its folder.
const fileName = "run.jsonl"

// Errors of the reader.
var (
	// ErrNotARun says that a file is something else than a run file.
	ErrNotARun = errors.New("not a leakbench run")
	// ErrNewerFormat says that a run file was written by a later version.
	ErrNewerFormat = errors.New("written in a newer format")
)

// Read reads a run file, or the one in a folder. Errors name the file; they
// wrap ErrNotARun, ErrNewerFormat or what the system said.
func Read(path string) (*Run, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("failed to read the run: %w", err)
	}
	file := path
	if info.IsDir() {
		file = filepath.Join(path, fileName)
	}
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) && info.IsDir() {
		return nil, fmt.Errorf("%w: the folder %s has no %s%s", ErrNotARun, path, fileName, hintAt(path))
	}
	if err != nil {
		return nil, fmt.Errorf("failed to read the run: %w", err)
	}
	defer f.Close()
	run, err := Decode(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return run, nil
}

// hintAt helps whoever names the folder of all runs in the place of one.
func hintAt(dir string) string {
	latest := filepath.Join(dir, "latest")
	if _, err := os.Stat(filepath.Join(latest, fileName)); err != nil {
		return ""
	}
	return "; did you mean " + latest + "?"
}

// Decode reads a run file. A file that only stops early, or lacks events, is a
// Run that says so in Truncated; one that holds anything else than events in
// their order is an error that names the line.
func Decode(r io.Reader) (*Run, error) {
	in := &numbered{in: lines.New(bufio.NewReaderSize(r, 64<<10), maxLine-1)}
	first, err := in.next()
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, errTorn) && !errors.Is(err, errTooLong) {
		return nil, err
	}
	header, err := decodeHeader(first, err)
	if err != nil {
		return nil, err
	}
	d := decoder{run: &Run{Header: *header}}
	for {
		line, err := in.next()
		switch {
		case err == nil:
			err = d.add(line)
		case errors.Is(err, io.EOF):
			d.finish("")
			return d.run, nil
		case errors.Is(err, errTorn):
			d.finish(fmt.Sprintf("line %d, the last one, is torn", in.n))
			return d.run, nil
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", in.n, err)
		}
	}
}

// decodeHeader decodes the first line; cut is how reading it ended.
func decodeHeader(line []byte, cut error) (*Header, error) {
	switch {
	case errors.Is(cut, io.EOF):
		return nil, fmt.Errorf("%w: the file is empty", ErrNotARun)
	case errors.Is(cut, errTorn):
		return nil, fmt.Errorf("%w: the first line is not a whole header", ErrNotARun)
	case errors.Is(cut, errTooLong):
		return nil, fmt.Errorf("%w: the first line is %w", ErrNotARun, cut)
	}
	var mark struct {
		Format  string          `json:"format"`
		Version json.RawMessage `json:"version"`
		Tool    json.RawMessage `json:"tool"`
	}
	if err := json.Unmarshal(line, &mark); err != nil || mark.Format != Format {
		return nil, fmt.Errorf("%w: the first line is not the header of one", ErrNotARun)
	}
	var version int
	if err := json.Unmarshal(mark.Version, &version); err != nil || version < 1 {
		return nil, fmt.Errorf("%w: the header has no version", ErrNotARun)
	}
	if version > Version {
		return nil, fmt.Errorf("%w: the file has version %d%s, this leakbench reads up to %d; a newer leakbench reads it",
			ErrNewerFormat, version, writtenBy(mark.Tool), Version)
	}
	var h Header
	if err := json.Unmarshal(line, &h); err != nil {
		return nil, fmt.Errorf("line 1: a broken header: %w", err)
	}
	return &h, nil
}

// writtenBy names the version that wrote a file, where that can be told.
func writtenBy(tool json.RawMessage) string {
	var t Tool
	if json.Unmarshal(tool, &t) != nil || t.Version == "" {
		return ""
	}
	return fmt.Sprintf(" (written by leakbench %.40q)", t.Version)
}

// decoder gathers the events of a run.
type decoder struct {
	run   *Run
	gap   string
	ended bool
	seq   int64
	last  int64
}

// add decodes an event. A number that is left out is a gap; one that comes
// again, or a time that runs back, is no file that a Writer wrote.
func (d *decoder) add(line []byte) error {
	var e Event
	if err := json.Unmarshal(line, &e); err != nil {
		return fmt.Errorf("not an event: %w", err)
	}
	if err := e.Check(); err != nil {
		return err
	}
	switch {
	case d.ended:
		return errors.New("an event after the end event")
	case e.Seq <= d.seq:
		return fmt.Errorf("event %d after event %d", e.Seq, d.seq)
	case e.T < d.last:
		return fmt.Errorf("event %d is earlier than the one before it", e.Seq)
	case e.Seq != d.seq+1 && d.gap == "":
		d.gap = gap(d.seq+1, e.Seq-1)
	}
	d.seq, d.last, d.ended = e.Seq, e.T, e.Kind == Ended
	d.run.Events = append(d.run.Events, e)
	return nil
}

func gap(from, to int64) string {
	if from == to {
		return fmt.Sprintf("event %d is missing", from)
	}
	return fmt.Sprintf("events %d to %d are missing", from, to)
}

// finish settles whether the run is complete; torn is what is known of the
// last line.
func (d *decoder) finish(torn string) {
	switch {
	case torn != "":
		d.run.Truncated = torn
	case d.gap != "":
		d.run.Truncated = d.gap
	case d.seq == 0:
		d.run.Truncated = "there is nothing after the header"
	case !d.ended:
		d.run.Truncated = fmt.Sprintf("there is no end event after event %d", d.seq)
	}
}

var (
	errTorn    = errors.New("torn")
	errTooLong = fmt.Errorf("longer than %d MiB", maxLine>>20)
)

// numbered counts the lines of a run file.
type numbered struct {
	in *lines.Reader
	n  int // of the line that next returned last, from 1
}

// next is the next line, valid until the call after. The error is io.EOF behind
// the last line, errTorn for a last one without a newline, errTooLong, or the
// stream's own.
func (l *numbered) next() ([]byte, error) {
	l.n++
	line, err := l.in.Next()
	switch {
	case errors.Is(err, lines.ErrTooLong):
		return nil, errTooLong
	case errors.Is(err, io.EOF) && len(line) > 0:
		return nil, errTorn
	}
	return line, err
}
