// Package bench_test measures the fake server inside a binary as big as the
// bench's own: this test binary links what the bench links, and is the fake
// server when it is run as one.
package bench_test

import (
	"fmt"
	"html/template"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/server"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	_ "github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/observe/keeper"
)

// TestMain keeps the linker from leaving out what makes the binary big: what
// it reaches only through these values could be used.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 {
		switch os.Args[1] {
		case "keeper":
			os.Exit(keeper.Main(os.Args[2:]))
		case "stormhost":
			os.Exit(stormHost(os.Args[2:]))
		}
	}
	if len(os.Args) > 1 && os.Args[1] == "never" {
		c := &cobra.Command{Use: "never"}
		s := server.NewMCPServer("never", "1")
		_, _ = client.NewStdioMCPClient("never", nil)
		_ = template.Must(template.New("never").Parse("{{.}}")).Execute(io.Discard, c.Execute())
		fmt.Println(server.ServeStdio(s), http.ListenAndServe("", server.NewStreamableHTTPServer(s)))
	}
	os.Exit(m.Run())
}

// contender is a server to be measured.
type contender struct {
	name string
	argv []string
}

// contenders are the bench's own binary and this one, which both link far more
// than the server, the server's package alone, and a server built on the SDK.
// What is built here is built without cgo, as releases are; this binary is as
// go test made it.
func contenders(b *testing.B) []contender {
	b.Helper()
	big, err := os.Executable()
	require.NoError(b, err)
	all := []contender{{"big", []string{big, "fakeserver"}}}
	for _, c := range []struct{ name, pkg, arg string }{
		{"full", "../../cmd/leakbench", "fakeserver"},
		{"lone", "./lone", "fakeserver"},
		{"mcpgo", "./mcpgoserver", "serve"},
	} {
		path, err := build(b, c.pkg)
		require.NoError(b, err)
		all = append(all, contender{c.name, []string{path, c.arg}})
	}
	return all
}

func build(b *testing.B, pkg string) (string, error) {
	b.Helper()
	path := filepath.Join(b.TempDir(), "server")
	cmd := exec.CommandContext(b.Context(), "go", "build", "-o", path, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.WaitDelay = time.Minute
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("failed to build %s: %w\n%s", pkg, err, out)
	}
	return path, nil
}

func median(values []float64) float64 {
	sort.Float64s(values)
	return values[len(values)/2]
}

// report gives each contender's median, and how those compare that link more
// than the server.
func report(b *testing.B, unit string, values map[string][]float64) {
	b.Helper()
	middle := map[string]float64{}
	for name, v := range values {
		middle[name] = median(v)
		b.ReportMetric(middle[name], name+"-"+unit)
	}
	for _, name := range []string{"big", "full"} {
		b.ReportMetric(middle[name]/middle["lone"], name+"/lone")
		b.ReportMetric(middle["mcpgo"]/middle[name], "mcpgo/"+name)
	}
	b.ReportMetric(0, "ns/op") // a round of all contenders says nothing
}
