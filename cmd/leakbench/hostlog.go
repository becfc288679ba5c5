package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/stage/runner"
)

// logTail is how much of the end of the host's stderr a report shows.
const logTail = 32 << 10

// hostLog is the end of what the host and its servers wrote to stderr, without
// what looks like a secret; "" where the run is not in a folder with a log.
func hostLog(run string) string {
	info, err := os.Stat(run)
	if err != nil {
		return ""
	}
	if !info.IsDir() {
		run = filepath.Dir(run)
	}
	f, err := os.Open(filepath.Join(run, runner.HostLog))
	if err != nil {
		return ""
	}
	defer f.Close()
	if size, err := f.Seek(0, io.SeekEnd); err == nil {
		_, _ = f.Seek(max(0, size-logTail), io.SeekStart)
	}
	text, err := io.ReadAll(io.LimitReader(f, logTail))
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.ToValidUTF8(string(text), "\uFFFD"), "\n")
	for i, line := range lines {
		lines[i] = strings.Join(record.Redact(strings.Split(line, " ")), " ")
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}
