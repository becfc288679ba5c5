package record

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A seqpacket socket keeps the borders of writes.
func TestEachEventIsOneWrite(t *testing.T) {
	t.Parallel()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_SEQPACKET|syscall.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	reader, writer := os.NewFile(uintptr(fds[0]), "reader"), os.NewFile(uintptr(fds[1]), "writer")
	defer reader.Close()
	defer writer.Close()
	w := &Writer{file: writer}
	buf := make([]byte, 64<<10)
	next := func() string {
		n, err := reader.Read(buf)
		require.NoError(t, err)
		return string(buf[:n])
	}
	require.NoError(t, w.WriteHeader(whole("abc")))
	header := next()
	assert.Equal(t, len(header)-1, strings.IndexByte(header, '\n'))
	for range 3 {
		add(t, w, Event{Kind: Bye, Server: "s#1", Text: strings.Repeat("x", 20<<10)})
		line := next()
		assert.Equal(t, len(line)-1, strings.IndexByte(line, '\n'))
	}
}

func TestAFullDiskSticks(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	w := &Writer{file: full}
	defer full.Close()
	require.ErrorIs(t, w.WriteHeader(Header{}), syscall.ENOSPC)
	_, err = w.Add(Event{Kind: Ready, Server: "s#1"})
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.ErrorIs(t, w.Err(), syscall.ENOSPC)
}

const ownMounts = "LEAKBENCH_TEST_OWN_MOUNTS"

// inOwnMounts runs the test once more in a mount namespace of its own, where
// it can have a disk of any size. It reports whether this is that run.
func inOwnMounts(t *testing.T) bool {
	t.Helper()
	if os.Getenv(ownMounts) == t.Name() {
		require.NoError(t, syscall.Mount("none", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""))
		return true
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.count=1")
	cmd.Env = append(os.Environ(), ownMounts+"="+t.Name())
	cmd.WaitDelay = 5 * time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.ENOSPC) {
		t.Skipf("no mount namespace to be had here: %v", err)
	}
	require.NoError(t, err, "%s", out)
	return false
}

// disk mounts a tmpfs of its own.
func disk(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	var flags uintptr
	if options == "ro" {
		flags, options = syscall.MS_RDONLY, ""
	}
	require.NoError(t, syscall.Mount("none", dir, "tmpfs", flags, options))
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

func TestADiskThatIsTooSmallIsAnErrorOfCreate(t *testing.T) {
	t.Parallel()
	if !inOwnMounts(t) {
		return
	}
	dir := disk(t, "size=512k")
	_, err := Create(filepath.Join(dir, "runs", fileName))
	require.ErrorIs(t, err, syscall.ENOSPC)
	left, err := os.ReadDir(filepath.Join(dir, "runs"))
	require.NoError(t, err)
	assert.Empty(t, left, "what could not be made ready is removed")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "fits"), make([]byte, 300<<10), 0o644), "and its space is free again")
}

func TestAReadOnlyFolderIsAnErrorOfCreate(t *testing.T) {
	t.Parallel()
	if !inOwnMounts(t) {
		return
	}
	_, err := Create(filepath.Join(disk(t, "ro"), fileName))
	require.ErrorIs(t, err, syscall.EROFS)
}

// fill takes what is left of a disk.
func fill(t *testing.T, dir string) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "filler"))
	require.NoError(t, err)
	defer f.Close()
	for block := make([]byte, 4096); err == nil; {
		_, err = f.Write(block)
	}
	require.ErrorIs(t, err, syscall.ENOSPC)
}

func TestADiskThatFillsUpLeavesTheReserve(t *testing.T) {
	t.Parallel()
	if !inOwnMounts(t) {
		return
	}
	for name, beside := range map[string]bool{"in the file": false, "beside the file": true} {
		t.Run(name, func(t *testing.T) {
			dir := disk(t, "size=4m")
			path := filepath.Join(dir, fileName)
			w, err := Create(path)
			require.NoError(t, err)
			if beside {
				require.NoError(t, w.reserve.release(w.file))
				w.reserve, err = reserveBeside(w.file)
				require.NoError(t, err)
			}
			fill(t, dir)
			require.NoError(t, w.WriteHeader(whole("abc")))
			var last Event
			for err == nil {
				var e Event
				if e, err = w.Add(Event{Kind: Bye, Server: "s#1", Text: strings.Repeat("x", 10_000)}); err == nil {
					last = e
				}
			}
			require.ErrorIs(t, err, syscall.ENOSPC)
			assert.Greater(t, last.Seq*10_000, int64(reserveSize*9/10), "the reserve was not there")
			_, again := w.Add(Event{Kind: Ready, Server: "s#1"})
			require.ErrorIs(t, again, syscall.ENOSPC, "the torn line must stay the last one")
			require.NoError(t, w.Close())
			readsAsTruncated(t, path, int(last.Seq))
		})
	}
}

func readsAsTruncated(t *testing.T, path string, events int) {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.False(t, bytes.HasSuffix(data, []byte("\n")), "the disk was full in the middle of a line")
	run, err := Read(path)
	require.NoError(t, err)
	assert.Contains(t, run.Truncated, "torn")
	assert.Len(t, run.Events, events)
}
