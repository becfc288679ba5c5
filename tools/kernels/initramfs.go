//go:build linux

package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// An entry of the archive from which the kernel fills its first file system. Folders are made as needed.
type entry struct {
	name string
	mode uint32
	data []byte
}

const (
	modeFolder = 0o040755
	modeFile   = 0o100000
)

// build makes the programs of the machine: this one as its init, the bench, a shell, and runc with its libraries.
func build(ctx context.Context, dir string) ([]entry, error) {
	var entries []entry
	for name, source := range map[string]string{"init": "./tools/kernels", "bin/leakbench": "./cmd/leakbench"} {
		file := filepath.Join(dir, filepath.Base(name))
		if _, err := run(ctx, "", []string{"CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64"}, "go", "build", "-o", file, source); err != nil {
			return nil, err
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry{name, 0o755, data})
	}
	runc, err := exec.LookPath("runc")
	if err != nil {
		return nil, err
	}
	libraries, err := run(ctx, "", nil, "ldd", runc)
	if err != nil {
		return nil, err
	}
	files := map[string]string{"bin/busybox": "/bin/busybox", "bin/sh": "/bin/busybox", "bin/runc": runc}
	for _, library := range regexp.MustCompile(`(?m)(/\S+) \(0x`).FindAllStringSubmatch(libraries, -1) {
		files[strings.TrimPrefix(library[1], "/")] = library[1]
	}
	for name, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry{name, 0o755, data})
	}
	return entries, nil
}

// writeInitramfs writes a cpio archive in the "newc" format (Documentation/driver-api/early-userspace/buffer-format.rst).
func writeInitramfs(path string, entries []entry) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	w := bufio.NewWriter(file)
	made := map[string]bool{".": true}
	for _, e := range entries {
		for _, folder := range parents(e.name) {
			if !made[folder] {
				made[folder] = true
				writeEntry(w, folder, modeFolder, nil)
			}
		}
		writeEntry(w, e.name, modeFile|e.mode, e.data)
	}
	writeEntry(w, "TRAILER!!!", 0, nil)
	if err := w.Flush(); err != nil {
		return err
	}
	return file.Close()
}

// parents are the folders above a name, the outermost first.
func parents(name string) []string {
	var folders []string
	for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
		folders = append([]string{dir}, folders...)
	}
	return folders
}

// writeEntry leaves errors to Flush.
func writeEntry(w *bufio.Writer, name string, mode uint32, data []byte) {
	links := 1
	fields := []any{0, mode, 0, 0, links, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0}
	header := "070701" + fmt.Sprintf(strings.Repeat("%08X", len(fields)), fields...)
	pad := func(n int) { _, _ = w.WriteString(strings.Repeat("\x00", -n&3)) }
	_, _ = w.WriteString(header + name + "\x00")
	pad(len(header) + len(name) + 1)
	_, _ = w.Write(data)
	pad(len(data))
}
