package main

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFailures(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ log, want string }{
		"none": {"ok  \tgithub.com/leakbench/leakbench/internal/lines\t0.1s\n?   \tx/y\t[no test files]\n", ""},
		"a test": {
			"ok  \tx\t0.1s\n--- FAIL: TestX (0.00s)\n    x_test.go:3: no\nFAIL\nFAIL\tgithub.com/leakbench/leakbench/internal/lines\t0.1s\nFAIL\n",
			"internal/lines: TestX",
		},
		"subtests": {
			"--- FAIL: TestX (0.00s)\n    --- FAIL: TestX/a (0.00s)\n        --- FAIL: TestX/a/b (0.00s)\n    --- FAIL: TestX/c (1.00s)\n" +
				"--- FAIL: TestXY (0.00s)\nFAIL\tother.org/x\t0.1s\n",
			"other.org/x: TestX/a/b, TestX/c, TestXY",
		},
		"many times": {"--- FAIL: TestX (0.00s)\n--- FAIL: TestX (0.10s)\nFAIL\tx\t0.1s\n", "x: TestX"},
		"packages":   {"FAIL\ta [build failed]\n--- FAIL: TestX (0.00s)\nFAIL\tb\t1s\nFAIL\tc\t2s\n", "a [build failed]; b: TestX; c"},
		"time is up": {
			"panic: test timed out after 1s\n\trunning tests:\n\t\tTestX (1s)\n\t\tTestY/z (0s)\n\ngoroutine 7 [running]:\nFAIL\tx\t1.0s\n",
			"x: TestX (running at the end), TestY/z (running at the end)",
		},
		"a binary": {"--- FAIL: TestX (0.00s)\r\nFAIL\r\n", "TestX"},
	} {
		assert.Equal(t, c.want, strings.Join(failures(c.log), "; "), name)
	}
}

// stubs are rows of which each comes to something else.
func stubs(t *testing.T, command ...string) (*tool, *bytes.Buffer) {
	tool := toolFor(t, command...)
	tool.rows = []row{
		{"here", "a place | like any", func(context.Context, *place) error { return nil }},
		{"nowhere", "no place", func(context.Context, *place) error { return errors.New("needs wings") }},
	}
	out := &bytes.Buffer{}
	tool.out = out
	return tool, out
}

func TestARowThatCantBePlayed(t *testing.T) {
	t.Parallel()
	needsLinux(t)
	for allowed, want := range map[string]bool{"": false, "here": false, "nowhere": true} {
		tool, out := stubs(t, "true")
		tool.allow = strings.Split(allowed, ",")
		good, err := tool.playAll(t.Context())
		require.NoError(t, err)
		assert.Equal(t, want, good, "--allow %s", allowed)
		assert.Regexp(t, `(?m)^ok     here +0\.\d s +0\.\d s +0\.\d s$`, out.String())
		assert.Regexp(t, `(?m)^can't  nowhere +needs wings$`, out.String())
	}
	tool, out := stubs(t, "true")
	tool.only = []string{"here"}
	good, err := tool.playAll(t.Context())
	require.NoError(t, err)
	assert.True(t, good)
	assert.NotContains(t, out.String(), "nowhere")
}

func TestACommandThatFails(t *testing.T) {
	t.Parallel()
	needsLinux(t)
	for script, want := range map[string]string{
		`printf -- '--- FAIL: TestX (0.00s)\n    --- FAIL: TestX/y (0.00s)\nFAIL\tgithub.com/leakbench/leakbench/internal/lines\t0.1s\n'; exit 1`: "internal/lines: TestX/y",
		"exit 3":        "exit status 3",
		"kill -KILL $$": "exit status 137",
	} {
		tool, out := stubs(t, "sh", "-c", script)
		tool.allow = []string{"nowhere", "here"}
		good, err := tool.playAll(t.Context())
		require.NoError(t, err)
		assert.False(t, good, "a failure is never allowed")
		assert.Regexp(t, `(?m)^FAIL   here  .* s  `+want+` \| see `+filepath.Join(tool.logs, "here.log")+`$`, out.String())
	}
	tool, out := stubs(t, "no-such-program")
	good, err := tool.playAll(t.Context())
	require.NoError(t, err)
	assert.False(t, good)
	assert.Regexp(t, `(?m)^FAIL   here  .*exit status 127`, out.String())
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	needsLinux(t)
	tool, out := stubs(t, "sh", "-c", `printf -- '--- FAIL: TestX (0.00s)\nFAIL\tx\t0.1s\n'; exit 1`)
	tool.markdown = true
	_, err := tool.playAll(t.Context())
	require.NoError(t, err)
	assert.Regexp(t, `^\| row \| surroundings \| result \| time \| user \| system \|
\|---\|---\|---\|---\|---\|---\|
\| `+"`here`"+` \| a place \\\| like any \| FAIL: x: TestX \| 0\.\d s \| 0\.\d s \| 0\.\d s \|
\| `+"`nowhere`"+` \| no place \| can't: needs wings \| \| \| \|
$`, out.String())
}

func TestInterrupted(t *testing.T) {
	t.Parallel()
	tool, out := stubs(t, "true")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := tool.playAll(ctx)
	require.EqualError(t, err, "interrupted")
	assert.NotContains(t, out.String(), "here")
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	o, err := parse([]string{"--only", "busy,root", "--only", "umask-077", "--allow", "root", "--", "go", "vet"})
	require.NoError(t, err)
	assert.Equal(t, options{only: []string{"busy", "root", "umask-077"}, allow: []string{"root"}, command: []string{"go", "vet"}}, o)
	o, err = parse(nil)
	require.NoError(t, err)
	assert.Equal(t, []string{"go", "test", "-count=1", "./..."}, o.command)
	_, err = parse([]string{"--allow", "busi"})
	require.EqualError(t, err, `no row is called "busi": did you mean busy?`)
	_, err = parse([]string{"--only", "busy,"})
	require.EqualError(t, err, `no row is called "": --list names all`)
	var out bytes.Buffer
	good, err := run(t.Context(), []string{"--list"}, &out)
	require.NoError(t, err)
	assert.True(t, good)
	for _, r := range table {
		assert.Regexp(t, "(?m)^"+r.name+" +"+r.gives[:3], out.String())
		assert.LessOrEqual(t, len(r.name), width)
	}
}
