package bench_test

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func read(b *testing.B, pid int, name string) string {
	b.Helper()
	if runtime.GOOS != "linux" {
		b.Skip("looks into /proc")
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name))
	require.NoError(b, err)
	return string(text)
}

func number(b *testing.B, s string) int64 {
	b.Helper()
	n, err := strconv.ParseInt(s, 10, 64)
	require.NoError(b, err)
	return n
}
