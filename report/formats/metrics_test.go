package formats_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/live"
	"github.com/leakbench/leakbench/report/formats"
)

// TestWatchedSeriesAreThereOnce: Prometheus refuses a page that has a series twice. Several command lines can have one label.
func TestWatchedSeriesAreThereOnce(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	formats.Watched(&b, &live.View{Groups: []*live.Group{
		{Label: "node index.js", Alive: 3, Used: 1}, {Label: "other", Alive: 1}, {Label: "node index.js", Alive: 2, Used: 2}, {Label: "gone"},
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
	assert.Contains(t, b.String(), `label="node index.js",state="used"} 3`)
	assert.Contains(t, b.String(), `label="node index.js",state="idle"} 2`)
}
