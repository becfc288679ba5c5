package observe_test

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/observe"
)

func TestOutputIsKeptAndSearched(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	r, w := io.Pipe()
	o, err := observe.KeepOutput(r, path)
	require.NoError(t, err)
	_, err = io.WriteString(w, "starting\nready on 8080\r\n")
	require.NoError(t, err)
	ready := regexp.MustCompile(`^ready on \d+$`)
	require.Eventually(t, func() bool { return o.Has(ready) }, 10*time.Second, time.Millisecond)
	assert.False(t, o.Has(regexp.MustCompile("gone")))
	o.Forget()
	assert.False(t, o.Has(ready))
	require.NoError(t, w.Close())
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "starting\nready on 8080\r\n", string(text))
}

// TestAHostThatFloods: of a host that is never ready, no more is kept than the file takes.
func TestAHostThatFloods(t *testing.T) {
	const flood, most = 300 << 20, 8 << 20
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	path := filepath.Join(t.TempDir(), "log")
	r, w := io.Pipe()
	o, err := observe.KeepOutput(r, path)
	require.NoError(t, err)
	block := []byte(strings.Repeat("x", 64<<10-1) + "\n")
	for range flood / len(block) {
		_, err := w.Write(block)
		require.NoError(t, err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	assert.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(2*most)) //nolint:gosec // no heap has 8 EiB
	assert.True(t, o.Has(regexp.MustCompile("^x+$")))
	require.NoError(t, w.Close())
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.EqualValues(t, most, info.Size())
}

func TestTheTailHidesSecrets(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	assert.Empty(t, observe.LogTail(path))
	lines := strings.Repeat("noise\n", 1000) + "first\nno such file\n--token=hunter2hunter2\n"
	require.NoError(t, os.WriteFile(path, []byte(lines), 0o600))
	tail := observe.LogTail(path)
	assert.True(t, strings.HasPrefix(tail, "first | no such file | --token="), tail)
	assert.NotContains(t, tail, "hunter2")
}

// TestTheTailSaysWhatWentWrong: Node ends with the properties of the error and its own version.
func TestTheTailSaysWhatWentWrong(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	for log, want := range map[string]string{
		"Error: an older one\nError [ERR_MODULE_NOT_FOUND]: Cannot find package 'react'\n    at a\n    at b {\n  code: 'X'\n}\n\nNode.js v20\n": "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'react' | ... |   code: 'X' | } | Node.js v20",
		"a\n  File \"x\", line 1\nmcp.ImportError: no b\n": `a |   File "x", line 1 | mcp.ImportError: no b`,
		"no error: said\nb\nc\nd\n":                        "b | c | d",
	} {
		require.NoError(t, os.WriteFile(path, []byte(log), 0o600))
		assert.Equal(t, want, observe.LogTail(path))
	}
}

func TestTheEndBeginsWithALine(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	assert.Empty(t, observe.LogEnd(path, 100))
	assert.Empty(t, observe.LogEnd(filepath.Dir(path), 100), "a folder")
	require.NoError(t, os.WriteFile(path, []byte("--token=hunter2hunter2\nsecond\n\xffthird\n"), 0o600))
	assert.Equal(t, "second\n\uFFFDthird", observe.LogEnd(path, 22), "of its first line the key is missing")
	assert.Empty(t, observe.LogEnd(path, 3), "no line is that short")
	all := observe.LogEnd(path, 1000)
	assert.True(t, strings.HasPrefix(all, "--token=") && strings.HasSuffix(all, "\nsecond\n\uFFFDthird"), all)
	assert.NotContains(t, all, "hunter2")
}
