package play

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/leakbench/leakbench/internal/observe"
)

// SavedRun is the folder of a run.
type SavedRun struct {
	Name    string    `json:"name"`
	Written time.Time `json:"written"` // when its run file was written to last
	Bytes   int64     `json:"bytes"`
}

// SavedRuns are the runs of a folder, the oldest first. Links are left out, as are folders of other commands.
func SavedRuns(out string) ([]SavedRun, error) {
	entries, err := os.ReadDir(out)
	if err != nil {
		return nil, &Misuse{Err: fmt.Errorf("failed to read the runs: %w", err), Remedy: RunsFolder}
	}
	var all []SavedRun
	for _, e := range entries { // by name, which begins with the time
		info, err := os.Lstat(filepath.Join(out, e.Name(), observe.RunFile))
		if !e.IsDir() || err != nil || !info.Mode().IsRegular() {
			continue
		}
		size, err := sizeOf(filepath.Join(out, e.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, SavedRun{e.Name(), info.ModTime(), size})
	}
	return all, nil
}

// sizeOf is what the files below a folder hold, in bytes. A file that is gone meanwhile holds nothing.
func sizeOf(dir string) (size int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || e.IsDir() {
			return err
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
		return nil
	})
	return size, err
}

// PruneRuns removes the runs of a folder that were last written to before a time, and returns them. "latest" then names the newest one
// that is left.
func PruneRuns(out string, before time.Time) (gone []SavedRun, err error) {
	all, err := SavedRuns(out)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(out) // nothing outside of it is removed, whatever becomes of its links
	if err != nil {
		return nil, err
	}
	defer root.Close()
	for _, run := range all {
		if !run.Written.Before(before) {
			continue
		}
		if err := root.RemoveAll(run.Name); err != nil {
			return gone, err
		}
		relinkLatest(out, run.Name)
		gone = append(gone, run)
	}
	return gone, nil
}
