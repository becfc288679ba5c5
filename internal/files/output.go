package files

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// Output is a file that is written to line by line. It remembers that it could not be, so that nobody has to ask after each line. That
// nobody reads a pipe is no failure.
type Output struct {
	*os.File
	Failed error
}

func (o *Output) Write(b []byte) (int, error) {
	n, err := o.File.Write(b)
	if !errors.Is(err, syscall.EPIPE) {
		o.Failed = cmp.Or(o.Failed, err)
	}
	return n, err
}

// WriteString is not to go past Write.
func (o *Output) WriteString(line string) (int, error) { return o.Write([]byte(line)) }

// Writable says why a file can't be written. It makes its folder, and leaves the file, or that there is none, as it was. Of a path that
// is no file, a pipe for one, that shows when it is written. Without a path there is nothing to write.
func Writable(path string) error {
	if path == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	path, err := target(path) // of a link that leads nowhere, it is not the link that is made and taken away
	if err != nil {
		return err
	}
	info, missing := os.Stat(path)
	switch {
	case missing == nil && info.IsDir():
		return syscall.EISDIR
	case missing == nil && !info.Mode().IsRegular():
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	f.Close()
	if missing != nil {
		return os.Remove(path)
	}
	return nil
}
