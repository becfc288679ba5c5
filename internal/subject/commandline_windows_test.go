package subject_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/windows"

	"github.com/leakbench/leakbench/internal/subject"
)

// TestCommandLine: inside a longer text the server's command line is one that programs on Windows take apart as it was.
func TestCommandLine(t *testing.T) {
	t.Parallel()
	server := []string{`C:\Program Files\leakbench.exe`, "fakeserver", "--ledger", `\\.\pipe\l b\`, "a'b", `"q"`, ""}
	argv := subject.Expand([]string{"gateway", "--stdio={{server}}", "{{server}}"}, server)
	require.Len(t, argv, 2+len(server))
	assert.Equal(t, server, argv[2:])
	again, err := windows.DecomposeCommandLine(argv[1][len("--stdio="):])
	require.NoError(t, err)
	assert.Equal(t, server, again)
}
