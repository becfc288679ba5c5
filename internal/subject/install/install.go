// Package install puts the packages of a preset into a folder of the user's cache: what the preset's lock file pins, or another
// version that the user names. It runs the package managers that people have (pip, npm, cargo) and never touches a project.
package install

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/lockedfile"
	"github.com/rogpeppe/go-internal/robustio"
)

// Params say what is installed, and where.
type Params struct {
	Name    string // of the preset
	Runtime string // "python", "node" or "rust"
	Package string
	Version string
	// Lock is the file among Files that pins everything. It is used where Version is Pinned; any other version is resolved anew.
	Lock   string
	Pinned string
	Files  fs.FS  // what stands beside the preset's file; copied to Dir
	Dir    string // made whole or not at all
	// Line, where it is set, gets each line that the package manager writes.
	Line func(string)
}

// Missing is the error for a runtime that is not there.
type Missing struct {
	What string // "python3 3.11 or newer"
	Hint string // the command to run
}

func (m *Missing) Error() string { return m.What + " is needed, and not there" }

// Failed is the error of a package manager.
type Failed struct {
	Command string
	Tail    string // the last lines that it wrote
	Err     error
}

func (f *Failed) Error() string {
	return fmt.Sprintf("%s: %v\n%s", f.Command, f.Err, strings.TrimRight(f.Tail, "\n"))
}

func (f *Failed) Unwrap() error { return f.Err }

// ErrFolder says that there can be no folder to install into.
var ErrFolder = errors.New("no folder for packages")

// Installed says whether a preset's folder is there. It is made in one step.
func Installed(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.IsDir()
}

// stampFile is a digest of what decides what was installed.
const stampFile = ".installed"

// Fresh says whether what is installed is what the preset asks for now: a
// newer program may pin something else at the same version.
func (p Params) Fresh() bool {
	stamp, err := os.ReadFile(filepath.Join(p.Dir, stampFile))
	return err == nil && string(stamp) == p.stamp()
}

// stamp is the lock file's digest, where it is what decides, and that of every file where the driver itself is built.
func (p Params) stamp() string {
	sum := sha256.New()
	_ = fs.WalkDir(p.Files, ".", func(path string, d fs.DirEntry, err error) error {
		decides := path == p.Lock && p.Version == p.Pinned || managers[p.Runtime].compiles
		if err != nil || !d.Type().IsRegular() || !decides {
			return err
		}
		text, err := fs.ReadFile(p.Files, path)
		fmt.Fprintf(sum, "%s %d\n%s", path, len(text), text)
		return err
	})
	return hex.EncodeToString(sum.Sum(nil))
}

// Install installs the packages, unless they are there already: then made is false. Two at the same time wait for
// each other. What an interrupted one leaves behind, the next one removes.
func Install(ctx context.Context, p Params) (made bool, err error) {
	manager, ok := managers[p.Runtime]
	if !ok {
		return false, fmt.Errorf("the runtime %q of %s is not known", p.Runtime, p.Name)
	}
	if p.Fresh() {
		return false, nil
	}
	if err := manager.check(ctx); err != nil {
		return false, err
	}
	if err := os.MkdirAll(filepath.Dir(p.Dir), 0o755); err != nil {
		return false, fmt.Errorf("%w: %w", ErrFolder, err)
	}
	unlock, err := lock(ctx, hidden(p.Dir, "lock"))
	if err != nil {
		return false, err
	}
	defer unlock()
	if p.Fresh() { // by the one that had the lock
		return false, nil
	}
	if err := sweep(p.Dir); err != nil {
		return false, err
	}
	return true, build(ctx, p, manager)
}

// lock waits for the lock of a file, which is gone with its holder. The file stays: another one may already wait for it.
func lock(ctx context.Context, path string) (func(), error) {
	var unlock func()
	locked := make(chan error, 1)
	go func() {
		release, err := lockedfile.MutexAt(path).Lock()
		unlock = release
		locked <- err
	}()
	select {
	case err := <-locked:
		return unlock, err
	case <-ctx.Done():
	}
	go func() { // nobody waits for it any more
		if <-locked == nil {
			unlock()
		}
	}()
	return nil, context.Cause(ctx)
}

// hidden is a path beside dir, for what is not ready.
func hidden(dir, what string) string {
	return filepath.Join(filepath.Dir(dir), "."+filepath.Base(dir)+"."+what)
}

// sweep removes what one that was killed has left: nobody else is at work, since the lock is held.
func sweep(dir string) error {
	left, err := filepath.Glob(hidden(dir, "new-*"))
	for _, path := range left {
		err = errors.Join(err, robustio.RemoveAll(path))
	}
	return err
}

func build(ctx context.Context, p Params, manager manager) (err error) {
	temporary, err := os.MkdirTemp(filepath.Dir(p.Dir), filepath.Base(hidden(p.Dir, "new-*")))
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, robustio.RemoveAll(temporary))
		}
	}()
	if err := os.Chmod(temporary, 0o755); err != nil {
		return err
	}
	from := temporary
	if twin := findTwin(p); twin != "" && os.CopyFS(temporary, os.DirFS(twin)) == nil {
		from = twin
	} else if err := manager.fill(ctx, p, temporary); err != nil {
		return err
	}
	if err := relocate(temporary, from, p.Dir); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(temporary, stampFile), []byte(p.stamp()), 0o644); err != nil {
		return err
	}
	return replace(p.Dir, temporary)
}

// replace puts a folder in the place of another one, if there is one. On Windows something may have a file of it open for a moment.
func replace(dir, by string) error {
	if !Installed(dir) {
		return robustio.Rename(by, dir)
	}
	old := hidden(dir, "new-old") // a name that sweep knows
	if err := robustio.Rename(dir, old); err != nil {
		return err
	}
	if err := robustio.Rename(by, dir); err != nil {
		return errors.Join(err, robustio.Rename(old, dir))
	}
	return robustio.RemoveAll(old)
}

// fill installs into a folder, in which something may be already.
func (m manager) fill(ctx context.Context, p Params, dir string) error {
	entries, err := os.ReadDir(dir)
	for _, entry := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, entry.Name())))
	}
	if err != nil {
		return err
	}
	if err := os.CopyFS(dir, p.Files); err != nil {
		return err
	}
	return m.install(ctx, p, dir)
}

// findTwin is the folder of another preset with the same lock file, or "": what is pinned is the same, and a copy
// takes a second. A run writes the preset's own files there.
func findTwin(p Params) string {
	lock, err := fs.ReadFile(p.Files, p.Lock)
	if err != nil || p.Version != p.Pinned || managers[p.Runtime].compiles {
		return ""
	}
	others, _ := filepath.Glob(filepath.Join(filepath.Dir(p.Dir), "*@"+p.Version)) // no pattern in it
	for _, other := range others {
		if other == p.Dir {
			continue
		}
		if its, err := os.ReadFile(filepath.Join(other, p.Lock)); err == nil && bytes.Equal(its, lock) {
			return other
		}
	}
	return ""
}

// relocate rewrites the scripts that a package manager has written with the path of the folder in them, which is about to change.
func relocate(dir, from, to string) error {
	scripts, err := os.ReadDir(filepath.Join(dir, "bin"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, entry := range scripts {
		path := filepath.Join(dir, "bin", entry.Name())
		info, err := entry.Info()
		if err != nil || !info.Mode().IsRegular() || info.Size() > 64<<10 {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if moved := strings.ReplaceAll(string(text), from, to); moved != string(text) {
			if err := os.WriteFile(path, []byte(moved), info.Mode()); err != nil {
				return err
			}
		}
	}
	return nil
}
