// A blob is runs in one file, as a shard of several machines hands them on and as a baseline is kept: a zip of run files with a manifest
// that says what they are part of.

package gate

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/files"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/record"
)

const (
	format   = "leakbench-blob"
	version  = 1
	manifest = "blob.json"
	runFile  = "run.jsonl"
)

// What a hostile file may cost, in bytes.
const (
	maxManifest = 4 << 20
	maxRun      = record.MaxFile
	maxAll      = 1 << 30
)

// ErrNotABlob says that a file is something else.
var ErrNotABlob = errors.New("not a leakbench blob")

// ErrNoRun says that a folder holds no run at all.
var ErrNoRun = errors.New("it contains no run")

type header struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Part
	Files []file `json:"files"`
}

type file struct {
	Name   string `json:"name"`
	Repeat int    `json:"repeat"`
	Try    int    `json:"try"`
}

// WriteBlob packs a part. Each of its runs must have its folder in Dir.
func WriteBlob(path string, part Part) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return files.Named(path, 0o600, func(w io.Writer) error { return write(w, part) })
}

// KeepBlob is WriteBlob to a file of ours: it follows no link.
func KeepBlob(path string, part Part) error {
	return files.Own(path, 0o600, func(w io.Writer) error { return write(w, part) })
}

func write(w io.Writer, part Part) error {
	h := header{Format: format, Version: version, Part: part}
	h.Runs = nil
	for i, run := range part.Runs {
		h.Files = append(h.Files, file{Name: fmt.Sprintf("runs/%04d.jsonl", i+1), Repeat: run.Repeat, Try: run.Try})
	}
	z := zip.NewWriter(w)
	m, err := z.Create(manifest)
	if err == nil {
		err = json.NewEncoder(m).Encode(h)
	}
	if err != nil {
		return err
	}
	for i, run := range part.Runs {
		if err := pack(z, h.Files[i].Name, filepath.Join(run.Dir, runFile)); err != nil {
			return err
		}
	}
	return z.Close()
}

func pack(z *zip.Writer, name, path string) error {
	from, err := os.Open(path)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := z.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return err
}

// ReadBlob unpacks a part and judges its runs. Nothing of it is written anywhere.
func ReadBlob(path string) (Part, error) {
	part, err := read(path)
	if err != nil {
		return part, fmt.Errorf("%s: %w", path, err)
	}
	part.Name = path
	return part, nil
}

func read(path string) (Part, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return Part{}, ErrNotABlob // a pipe would never end
	}
	z, err := zip.OpenReader(path)
	if errors.Is(err, zip.ErrFormat) {
		return Part{}, ErrNotABlob
	}
	if err != nil {
		return Part{}, err
	}
	defer z.Close()
	h, err := headOf(&z.Reader)
	if err != nil {
		return Part{}, err
	}
	left := int64(maxAll)
	for _, f := range h.Files {
		run, size, err := unpack(&z.Reader, f.Name)
		if left -= size; left < 0 && err == nil {
			err = fmt.Errorf("more than %d bytes of runs", maxAll)
		}
		if err != nil {
			return Part{}, fmt.Errorf("%s: %w", f.Name, err)
		}
		h.Runs = append(h.Runs, Attempt{
			Judged: verdict.NewJudged(run, ""), Repeat: max(1, f.Repeat), Try: max(1, f.Try),
		})
	}
	return h.Part, nil
}

// headOf reads what a blob says of itself.
func headOf(z *zip.Reader) (h header, err error) {
	m, err := z.Open(manifest)
	if err != nil {
		return h, fmt.Errorf("%w: it has no %s", ErrNotABlob, manifest)
	}
	defer m.Close()
	err = json.NewDecoder(io.LimitReader(m, maxManifest)).Decode(&h)
	switch {
	case err != nil || h.Format != format:
		return h, fmt.Errorf("%w: its %s is not valid", ErrNotABlob, manifest)
	case h.Version > version:
		return h, record.ErrNewerFormat
	case h.Version != version:
		return h, fmt.Errorf("%w: its %s says version %d", ErrNotABlob, manifest, h.Version)
	case !h.Shard.Valid():
		return h, fmt.Errorf("%w: its %s says shard %s", ErrNotABlob, manifest, h.Shard)
	}
	return h, nil
}

func unpack(z *zip.Reader, name string) (*record.Run, int64, error) {
	f, err := z.Open(name)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	limited := &io.LimitedReader{R: f, N: maxRun + 1}
	run, err := record.Decode(limited)
	if limited.N == 0 {
		err = fmt.Errorf("larger than %d bytes", maxRun)
	}
	return run, maxRun + 1 - limited.N, err
}

// LoadBlobs reads whatever holds runs: a run file, its folder, a blob, or a folder of
// any of these. Links in a folder are left out: latest is one of the others.
func LoadBlobs(path string) ([]Part, error) {
	path = record.Newest(path)
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("failed to read runs: %w", err)
	}
	if _, err := os.Stat(filepath.Join(path, runFile)); err == nil || !info.IsDir() {
		return one(path)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("failed to read runs: %w", err)
	}
	var parts []Part
	for _, e := range entries {
		inside := filepath.Join(path, e.Name())
		if !holdsRuns(inside, e) {
			continue
		}
		more, err := LoadBlobs(inside)
		if err != nil && !errors.Is(err, ErrNoRun) {
			return nil, err
		}
		parts = append(parts, more...)
	}
	if len(parts) == 0 {
		return nil, fmt.Errorf("%s: %w", path, ErrNoRun)
	}
	return loose(parts), nil
}

// LoadAllBlobs is LoadBlobs of several. All that can't be read is in the error.
func LoadAllBlobs(paths ...string) (parts []Part, err error) {
	for _, path := range paths {
		more, failed := LoadBlobs(path)
		parts, err = append(parts, more...), errors.Join(err, failed)
	}
	if err != nil {
		return nil, err
	}
	return parts, nil
}

func holdsRuns(path string, e fs.DirEntry) bool {
	switch {
	case e.Type()&fs.ModeSymlink != 0 || strings.HasPrefix(e.Name(), "."):
		return false
	case e.IsDir():
		return true
	case strings.HasSuffix(e.Name(), ".zip"):
		_, err := read(path)
		return !errors.Is(err, ErrNotABlob)
	}
	return strings.HasSuffix(e.Name(), ".jsonl")
}

func one(path string) ([]Part, error) {
	if strings.HasSuffix(path, ".zip") {
		part, err := ReadBlob(path)
		return []Part{part}, err
	}
	run, err := record.Read(path)
	if err != nil {
		return nil, err
	}
	j := verdict.NewJudged(run, path)
	return []Part{{Name: path, Host: run.Header.Host.Name, Runs: Fresh([]verdict.Judged{j})}}, nil
}

// loose puts runs that are in no blob into one part for each host, in the order of their names, which is that of time.
func loose(parts []Part) []Part {
	blob := func(p Part) bool { return len(p.Plan) > 0 }
	out := slices.DeleteFunc(slices.Clone(parts), func(p Part) bool { return !blob(p) })
	hosts, byHost := lists.GroupBy(slices.DeleteFunc(parts, blob), func(p Part) string { return p.Host })
	for _, host := range hosts {
		var runs []verdict.Judged
		for _, p := range byHost[host] {
			for i := range p.Runs {
				runs = append(runs, p.Runs[i].Judged)
			}
		}
		out = append(out, Part{Name: "runs on " + host, Host: host, Runs: Fresh(runs)})
	}
	return out
}

// RunsOf are the runs of parts that count, tries that were made again left out.
func RunsOf(parts []Part) []verdict.Judged {
	all, _, _ := Merge(parts)
	return Final(all)
}
