// Package files opens what a command line names, and writes programs. What is named may be a pipe, a terminal or a device as well
// as a file: none of them makes a command wait for ever.
package files

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/duration"
)

// patience is how long a pipe or a terminal may take to say or to take something.
var patience = 10 * time.Second

// IsPath says that a name on a command line, or in a file of ours, is that of a file, and of nothing that is built in.
func IsPath(name string) bool {
	ext := filepath.Ext(name)
	return ext == ".yaml" || ext == ".yml" || HasFolder(name)
}

// HasFolder says that a name is a path, and not just the name of a file. On Windows people also write /.
func HasFolder(name string) bool { return strings.ContainsAny(name, "/"+string(filepath.Separator)) }

// Open opens a file for reading. Where it is a pipe or a terminal, a read fails that nothing has come for in 10 s.
func Open(path string) (io.ReadCloser, error) {
	f, err := os.OpenFile(filepath.Clean(path), os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	return &timed{f}, nil
}

// smallFile is the most that Small reads, in bytes.
const smallFile = 1 << 20

// Small is the content of a file that holds a few words. What has more, or is no file, is an error: whoever brings a folder along chooses
// what lies in it.
func Small(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > smallFile) {
		err = fmt.Errorf("%s is no small file", path)
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// Write writes a file that the user named: as a whole (os.O_TRUNC, see Named), or as how says: os.O_APPEND, os.O_EXCL. A pipe that
// nobody reads is an error.
func Write(path string, content []byte, how int) error {
	if how == os.O_TRUNC {
		return Named(path, 0o644, Text(content))
	}
	f, err := os.OpenFile(filepath.Clean(path), os.O_WRONLY|os.O_CREATE|how|nonblock, 0o644)
	if err != nil {
		return err
	}
	_, err = (&limited{f}).Write(content)
	return errors.Join(err, f.Close())
}

// timed is a file whose reads end.
type timed struct{ *os.File }

func (t *timed) Read(p []byte) (int, error) {
	_ = t.SetReadDeadline(time.Now().Add(patience)) // a file has none, and ends
	n, err := t.File.Read(p)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = fmt.Errorf("%s: nothing came from it for %s", t.Name(), duration.Text(patience))
	}
	return n, err
}
