package files

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// Program writes a program whole, or replaces it in one step. No child is forked meanwhile: it would hold the file open for writing
// until its own execve(2), and who starts the program in that time gets ETXTBSY (golang.org/issue/22315).
func Program(path string, content []byte) (err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	temporary, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = temporary.Write(content)
	if err = errors.Join(err, temporary.Chmod(0o755), temporary.Close()); err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temporary.Name())
	}
	return err
}
