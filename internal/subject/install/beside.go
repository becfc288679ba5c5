package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// ErrFiles says that a host file's folder does not hold what its packages are installed from.
var ErrFiles = errors.New("its packages cannot be installed")

// Beside is what packages are installed from for a host file of the user's own: the lock file beside it, and what the package
// manager needs with that. Nothing else of the folder is copied.
func Beside(dir, runtime, lock string) (fs.FS, error) {
	m, ok := managers[runtime]
	switch {
	case !ok:
		return nil, fmt.Errorf("%w: leakbench installs packages for python, node and rust, not for %s", ErrFiles, runtime)
	case lock == "":
		return nil, fmt.Errorf("%w: its install section has no lock:, the file that pins every package", ErrFiles)
	}
	names := append([]string{lock}, m.needs...)
	for _, name := range names {
		info, err := os.Stat(filepath.Join(dir, name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("%w: there is no %s beside the host file", ErrFiles, name)
		case err != nil:
			return nil, fmt.Errorf("%w: %w", ErrFiles, err)
		case !info.Mode().IsRegular() && (!info.IsDir() || name != sources):
			return nil, fmt.Errorf("%w: %s is not a file but %s", ErrFiles, filepath.Join(dir, name), kindOf(info.Mode()))
		}
	}
	return some{os.DirFS(dir), append(names, "build.rs")}, nil
}

// sources is the folder that cargo compiles.
const sources = "src"

// kindOf is a word for what is no file.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	}
	return "a device or a socket"
}

// some is a folder of which only these names are seen. What a link leads to is in its place.
type some struct {
	fs.FS
	names []string
}

// ReadDir lists a folder.
func (s some) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(s.FS, name)
	if name == "." {
		entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return !slices.Contains(s.names, e.Name()) })
	}
	for i, e := range entries {
		if info, gone := fs.Stat(s.FS, filepath.ToSlash(filepath.Join(name, e.Name()))); gone == nil {
			entries[i] = fs.FileInfoToDirEntry(info)
		}
	}
	return entries, err
}
