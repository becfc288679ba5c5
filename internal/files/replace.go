package files

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/leakbench/leakbench/internal/duration"
)

// maxLinks is how many links a name may lead through.
const maxLinks = 40

// Own writes a file of ours, as a whole, in a folder that somebody else may have packed. A link that stands in its place is replaced, and
// what it leads to stays as it was. A pipe or a device is an error.
func Own(path string, mode fs.FileMode, write func(io.Writer) error) error {
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() && info.Mode()&fs.ModeSymlink == 0 {
		return &fs.PathError{Op: "write", Path: path, Err: errors.New("it is no file")}
	}
	return replace(path, mode, false, write)
}

// NoLink says which folder on the way from a base to a path below it is a link. What is there may have been packed by somebody else.
func NoLink(base, below string) error {
	path := base
	for part := range strings.SplitSeq(filepath.ToSlash(filepath.Clean(below)), "/") {
		path = filepath.Join(path, part)
		info, err := os.Lstat(path)
		if err != nil {
			return nil //nolint:nilerr // it is made, or whoever makes it says why not
		}
		if to, err := os.Readlink(path); err == nil || info.Mode()&fs.ModeIrregular != 0 {
			return fmt.Errorf("%s is a link (to %q)", path, to)
		}
	}
	return nil
}

// Named writes a file that the user named, as a whole. A link is followed, and a pipe or a device is written to. The mode is for a new
// file: one that is there keeps its own.
func Named(path string, mode fs.FileMode, write func(io.Writer) error) error {
	path, err := target(path)
	if err != nil {
		return err
	}
	info, err := os.Lstat(path)
	switch {
	case err == nil && info.IsDir():
		return &fs.PathError{Op: "write", Path: path, Err: syscall.EISDIR}
	case err == nil && !info.Mode().IsRegular():
		return stream(path, 0, write)
	case err == nil:
		mode = info.Mode().Perm()
	}
	failed := replace(path, mode, err == nil, write)
	if err == nil && errors.Is(failed, fs.ErrPermission) { // no file can be made beside it, and it may be written all the same
		return stream(path, os.O_TRUNC, write)
	}
	return failed
}

// target is where the links of a name lead. What stands there need not exist.
func target(path string) (string, error) {
	for range maxLinks {
		to, err := os.Readlink(path)
		if err != nil {
			return path, nil //nolint:nilerr // it is no link
		}
		if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
			return path, nil // a link of /proc/self/fd leads to a pipe that has no other name
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return "", &fs.PathError{Op: "write", Path: path, Err: syscall.ELOOP}
}

// replace writes a new file beside path and puts it in its place, in a folder that is opened once: nobody can put a link between.
// The mode of a file that was there is kept, whatever the umask.
func replace(path string, mode fs.FileMode, was bool, write func(io.Writer) error) (err error) {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer root.Close()
	name := filepath.Base(path)
	fresh := ".new-" + rand.Text()
	f, err := root.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	if was {
		_ = f.Chmod(mode)
	}
	defer func() { _ = root.Remove(fresh) }() // which is there where write has failed, or panics
	defer f.Close()
	if err = errors.Join(write(f), f.Close()); err == nil {
		err = root.Rename(fresh, name)
	}
	return err
}

// stream writes to what is there already. A pipe that nobody reads is an error.
func stream(path string, how int, write func(io.Writer) error) error {
	f, err := os.OpenFile(filepath.Clean(path), os.O_WRONLY|how|nonblock, 0)
	if err != nil {
		return err
	}
	return errors.Join(write(&limited{f}), f.Close())
}

// limited is a file whose writes end.
type limited struct{ *os.File }

func (l *limited) Write(p []byte) (int, error) {
	_ = l.SetWriteDeadline(time.Now().Add(patience)) // a file has none, and takes what it gets
	n, err := l.File.Write(p)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = fmt.Errorf("%s: nobody read it for %s", l.Name(), duration.Text(patience))
	}
	return n, err
}

// Text is a writer of a whole text, for Own and Named.
func Text(content []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.Copy(w, bytes.NewReader(content))
		return err
	}
}
