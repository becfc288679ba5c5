package subject_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject"
	"github.com/leakbench/leakbench/internal/subject/catalogue"
	"github.com/leakbench/leakbench/internal/subject/refhost"
)

func TestBuiltin(t *testing.T) {
	t.Parallel()
	var names []string
	for _, s := range subject.Builtin("/bin/leakbench") {
		names = append(names, s.Name)
		assert.Equal(t, record.KindDriver, s.Kind)
		assert.Equal(t, []string{"/bin/leakbench", "host", s.Name}, s.Argv)
		assert.NotEmpty(t, s.About)
		assert.Positive(t, s.Profile.Settle.D())
		assert.Positive(t, s.Profile.Stop.D())
	}
	assert.Equal(t, append(refhost.Names(), "mcp-go", "go-sdk"), names)
}

func TestMutantsAreThereAndHidden(t *testing.T) {
	t.Parallel()
	var names []string
	for _, s := range subject.Mutants("self") {
		names = append(names, s.Name)
		found, err := subject.Lookup("self", s.Name)
		require.NoError(t, err)
		assert.Equal(t, s, found)
		assert.NotEmpty(t, s.About)
	}
	assert.Len(t, names, len(catalogue.Mutants))
}

func TestLookup(t *testing.T) {
	t.Parallel()
	s, err := subject.Lookup("self", "orphan-set")
	require.NoError(t, err)
	assert.Equal(t, []string{"self", "host", "orphan-set"}, s.Argv)
	_, err = subject.Lookup("self", "orphanset")
	require.ErrorContains(t, err, "did you mean orphan-set?")
	_, err = subject.Lookup("self", "zzzzzz")
	require.ErrorContains(t, err, "exact, naive, reap-all, orphan-set, thread-blind, mcp-go, go-sdk")

	dir := t.TempDir()
	_, err = subject.Lookup("self", filepath.Join(dir, "missing"))
	require.ErrorIs(t, err, os.ErrNotExist)
	plain := filepath.Join(dir, "plain")
	require.NoError(t, os.WriteFile(plain, nil, 0o600))
	_, err = subject.Lookup("self", plain)
	if runtime.GOOS == "windows" { // where the end of its name says what a program is
		require.ErrorContains(t, err, "no program by its name")
		return
	}
	require.ErrorIs(t, err, os.ErrPermission)
}

func TestFromCommand(t *testing.T) {
	t.Parallel()
	argv := []string{"/usr/bin/gateway", "--mcp", "{{server}}"}
	s, err := subject.FromCommand(argv)
	require.NoError(t, err)
	assert.Equal(t, record.KindCommand, s.Kind)
	assert.Equal(t, "gateway", s.Name)
	argv[0] = "changed"
	assert.Equal(t, "/usr/bin/gateway", s.Argv[0], "a copy")
	for _, c := range []struct {
		argv []string
		want string
	}{
		{nil, "no command"},
		{[]string{"gateway"}, "put {{server}} there"},
		{[]string{"{{server}}"}, "cannot be the command itself"},
		{[]string{"/opt/{{server}}/gateway"}, "put {{server}} there"},
	} {
		_, err := subject.FromCommand(c.argv)
		require.ErrorContains(t, err, c.want)
	}
}

func TestExpand(t *testing.T) {
	t.Parallel()
	server := []string{"/my dir/leakbench", "fakeserver", "--label", `it's "x" $HOME`, ""}
	assert.Equal(t,
		[]string{"gw", "--mcp", "/my dir/leakbench", "fakeserver", "--label", `it's "x" $HOME`, "", "-v"},
		subject.Expand([]string{"gw", "--mcp", "{{server}}", "-v"}, server))
	assert.Equal(t,
		[]string{"gw", `--mcp='/my dir/leakbench' fakeserver --label 'it'\''s "x" $HOME' ''`},
		subject.Expand([]string{"gw", "--mcp={{server}}"}, server))
	assert.Equal(t, []string{"{{other}}"}, subject.Expand([]string{"{{other}}"}, server))
}

// TestExpandForAShell: a real shell takes the words apart as they were.
func TestExpandForAShell(t *testing.T) {
	t.Parallel()
	words := []string{"plain", "two words", `a'b"c$d` + "`e`\\", "*", "", "ümläut\nline", "-n", ";exit 3"}
	argv := subject.Expand([]string{"sh", "-c", `for w in {{server}}; do printf '%s\0' "$w"; done`}, words)
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.WaitDelay = patience
	out, err := cmd.Output()
	require.NoError(t, err)
	assert.Equal(t, words, strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"))
}
