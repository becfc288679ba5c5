package structure_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestOnlyLoopbackIsListenedOn: the bench waits for nobody from another machine.
func TestOnlyLoopbackIsListenedOn(t *testing.T) {
	t.Parallel()
	listens := regexp.MustCompile(`\b(?:net|tls)\.(Listen\w*)\(|\.(ListenAndServe\w*)\(|ListenConfig\{|ListenPacket\(`)
	allowed := regexp.MustCompile(`net\.Listen\("tcp", "127\.0\.0\.1:0"\)|net\.ListenUnix\("unix", `)
	told := map[string]string{"internal/play/attach/metrics.go": `net.Listen("tcp", net.JoinHostPort(host, port))`} // loopback where --prometheus names no host
	found := 0
	for _, root := range []string{"cmd", "driver", "fakeserver", "hosts", "internal", "leaktest", "report", "scenarios"} {
		require.NoError(t, filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for line := range strings.Lines(string(text)) {
				if listens.MatchString(line) && (told[path] == "" || !strings.Contains(line, told[path])) {
					found++
					assert.Regexp(t, allowed, line, path)
				}
			}
			return err
		}))
	}
	assert.Positive(t, found, "there are some")
}

// TestSecurityPageNamesItsTests: each promise of docs/understand/security.md has a test, and that test is there.
func TestSecurityPageNamesItsTests(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("docs/understand/security.md")
	require.NoError(t, err)
	tests := map[string]bool{}
	require.NoError(t, filepath.WalkDir(".", func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, match := range regexp.MustCompile(`(?m)^func (Test\w+|Fuzz\w+)\(`).FindAllStringSubmatch(string(text), -1) {
			tests[match[1]] = true
		}
		return err
	}))
	rows := 0
	for line := range strings.Lines(string(page)) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| promise") {
			continue
		}
		rows++
		named := regexp.MustCompile("`((?:Test|Fuzz)\\w+)`").FindAllStringSubmatch(line, -1)
		assert.NotEmpty(t, named, "a promise without a test: %s", line)
		for _, name := range named {
			assert.True(t, tests[name[1]], "no test is called %s", name[1])
		}
	}
	assert.Greater(t, rows, 10)
}
