package formats

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
)

// JSON is for programs: what it escapes it does not change.
func TestJSONKeepsStringsExact(t *testing.T) {
	t.Parallel()
	run, err := record.Read("../../testdata/runs/cron-reap-all.jsonl")
	require.NoError(t, err)
	j := verdict.NewJudged(run, "")
	j.Dir = "dir\x1b[31m\u202e\u0085\x7f\U000e0041\u2028\"</script>é"
	var b bytes.Buffer
	require.NoError(t, JSON(&b, []verdict.Judged{j}, Exit{}, More{}))
	var out struct{ Runs []struct{ Dir string } }
	require.NoError(t, json.Unmarshal(b.Bytes(), &out))
	assert.Equal(t, j.Dir, out.Runs[0].Dir)
}
