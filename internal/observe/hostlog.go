// Package hostlog keeps what a host writes: its stdout, and the end of its stderr.
package observe

import (
	"bufio"
	"errors"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/leakbench/leakbench/internal/bug"
	"github.com/leakbench/leakbench/internal/redact"
)

const (
	maxOutput = 8 << 20  // bytes that are kept, in the file and of what is searched for a word
	maxLine   = 64 << 10 // of what is searched for a word
	maxLines  = 10_000
	tailRead  = 8 << 10
	tailBytes = 1000
	tailLines = 3
)

// Output is the stdout of a host, as it was so far.
type Output struct {
	mu    sync.Mutex
	lines []string // until somebody has found what he looks for
	bytes int      // of them
	over  bool
}

// Keep drains a host's stdout into a file, up to a cap, and keeps its lines for whom waits for one. The error says why
// there is no file; it is drained all the same.
func KeepOutput(stdout io.ReadCloser, path string) (*Output, error) {
	o := &Output{}
	log, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	go func() {
		defer bug.Ends()
		defer stdout.Close()
		left := maxOutput
		in := bufio.NewReaderSize(stdout, maxLine)
		for {
			line, err := in.ReadSlice('\n')
			if n := min(len(line), left); log != nil && n > 0 {
				_, _ = log.Write(line[:n])
				left -= n
			}
			o.add(string(line))
			if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
				break
			}
		}
		if log != nil {
			log.Close()
		}
	}()
	return o, err
}

func (o *Output) add(line string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.over && len(o.lines) < maxLines && o.bytes < maxOutput {
		o.lines = append(o.lines, line)
		o.bytes += len(line)
	}
}

// Has says that a line matches.
func (o *Output) Has(word *regexp.Regexp) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, line := range o.lines {
		if word.MatchString(strings.TrimRight(line, "\r\n")) {
			return true
		}
	}
	return false
}

// Forget ends the keeping of lines.
func (o *Output) Forget() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lines, o.over = nil, true
}

// reason is the line of a program's last words that says what went wrong, as Node, Python, Rust and Go write it.
var reason = regexp.MustCompile(`(?i)^[\w.]*(error|exception|panic)\b[^:]*: `)

// Tail is the last lines of a log, on one line and without what looks like a secret; "" where there is none. Before them comes the
// line that says what went wrong, if it is none of them: Node writes it before the stack.
func LogTail(path string) string {
	lines := slices.DeleteFunc(strings.Split(LogEnd(path, tailRead), "\n"), func(line string) bool { return strings.TrimSpace(line) == "" })
	last := lines[max(0, len(lines)-tailLines):]
	if !slices.ContainsFunc(last, reason.MatchString) {
		for _, line := range slices.Backward(lines[:len(lines)-len(last)]) {
			if reason.MatchString(line) {
				last = append([]string{line, "..."}, last...)
				break
			}
		}
	}
	text := strings.Join(last, " | ")
	return strings.ToValidUTF8(text[max(0, len(text)-tailBytes):], "")
}

// End is at most so many of the last bytes of a log, from the beginning of a line on and without what looks like a secret; "" where
// there is no log.
func LogEnd(path string, most int64) string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	from := max(0, info.Size()-most)
	text, err := io.ReadAll(io.NewSectionReader(f, from, most))
	if err != nil {
		return ""
	}
	end := strings.ToValidUTF8(string(text), "\uFFFD")
	if from > 0 { // of a line without its beginning it can't be told what is secret
		_, end, _ = strings.Cut(end, "\n")
	}
	return strings.TrimSpace(redact.Text(end))
}
