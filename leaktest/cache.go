package leaktest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// lockName is a file in the build cache. It stays there, empty: whoever removed it would have the lock of another file than those who wait.
const lockName = "leaktest.lock"

// givenTemp is the folder for temporary files. Tests change that, too.
var givenTemp = os.TempDir()

// turn waits until no other process builds the program in the build cache of the go command. The packages of `go test ./...` are tested
// side by side, and the build cache does not keep two of them from compiling the same. env is for the go command, done ends the turn. So
// does the end of this process, however it comes: the system releases the lock.
func turn(dir string) (env []string, done func(), err error) {
	cache, err := goCommand(dir, nil, "env", "GOCACHE")
	if err != nil {
		return nil, nil, err
	}
	file, err := lockFile(cache)
	if err != nil {
		why := err
		if cache, err = privateCache(givenTemp); err == nil {
			file, err = lockFile(cache)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("the build cache can't be written (%w), and there is no other one: %w", why, err)
		}
		tell("the build cache can't be written (%v): the leakbench program is built in %s", why, cache)
		env = []string{"GOCACHE=" + cache}
	}
	err = lock(file, false)
	if errors.Is(err, errTaken) {
		slow := time.AfterFunc(slowBuild, func() { tell("waiting for another test that builds the leakbench program") })
		err = lock(file, true)
		slow.Stop()
	}
	if err != nil { // a file system without locks: each builds it
		tell("other tests may build the leakbench program as well: %v", err)
	}
	return env, func() { file.Close() }, nil
}

var errTaken = errors.New("another process has the lock")

// lockFile opens the file whose lock is the turn. That it can be opened also says that the cache can be written.
func lockFile(cache string) (*os.File, error) {
	if !filepath.IsAbs(cache) { // "off": there is no home
		return nil, fmt.Errorf("GOCACHE is %q", cache)
	}
	if err := os.MkdirAll(cache, 0o777); err != nil { // as the go command makes it
		return nil, err
	}
	return os.OpenFile(filepath.Join(cache, lockName), os.O_RDWR|os.O_CREATE, 0o600)
}

// privateCache is a build cache for whoever has a home that can't be written. Programs are run from it, and anybody can make a folder in
// temp: it must be one that nobody else can write.
func privateCache(temp string) (string, error) {
	dir := filepath.Join(temp, "leaktest")
	if uid := os.Geteuid(); uid >= 0 {
		dir += "-" + strconv.Itoa(uid)
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return "", err
	}
	if !info.IsDir() || !private(info) {
		return "", fmt.Errorf("%s is not a folder of this user alone (mode 0700): remove it", dir)
	}
	return filepath.Join(dir, "go-build"), nil
}
