package formats_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/attach"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/report/formats"
)

// TestWatchedSeriesAreThereOnce: Prometheus refuses a page that has a series twice. Several command lines can have one label.
func TestWatchedSeriesAreThereOnce(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	formats.Watched(&b, &attach.View{Groups: []*attach.Group{
		{Label: "node index.js", Alive: 3, Used: 1},
		{Label: "other", Alive: 1},
		{Label: "node index.js", Alive: 2, Used: 2},
		{Label: "gone"},
		{Label: "bash", Alive: 7, Shell: true},
	}, Children: []*attach.Child{
		{Role: attach.RoleZombie, FactsAge: record.Duration(time.Hour)}, {Role: attach.RoleShell, FactsAge: record.Duration(2 * time.Second)},
	}})
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(b.Bytes()))
	require.NoError(t, err)
	assert.Len(t, families["leakbench_watched_servers"].GetMetric(), 4)
	series := map[string]int{}
	for line := range strings.Lines(b.String()) {
		if !strings.HasPrefix(line, "#") {
			name, _, _ := strings.Cut(line, "} ")
			series[name]++
			assert.Equal(t, 1, series[name], line)
		}
	}
	assert.NotContains(t, b.String(), `label="bash"`, "a shell is no server")
	assert.Contains(t, b.String(), `leakbench_watched_oldest_fact_seconds{host="",pid="0"} 2.000`, "nothing is read of a zombie")
	assert.Contains(t, b.String(), `role="shell"} 1`)
	assert.Contains(t, b.String(), `label="node index.js",state="used"} 3`)
	assert.Contains(t, b.String(), `label="node index.js",state="idle"} 2`)
}
