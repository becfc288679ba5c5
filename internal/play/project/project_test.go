package project_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/play/project"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/yamlfile/yamltest"
)

var update = flag.Bool("update", false, "write the expected messages, and the schema")

const full = `host: naive
scenarios: [storm, all, ./mine.yaml]
level: [orderly, sudden]
reporters: [junit=junit.xml, github]
settle: 5s
confirm: 1s
fast: true
`

func TestAll(t *testing.T) {
	t.Parallel()
	p, err := project.Parse("leakbench.yaml", []byte(full))
	require.NoError(t, err)
	assert.Equal(t, project.Project{
		Path: "leakbench.yaml", Host: "naive", Scenarios: []string{"storm", "all", "./mine.yaml"}, Levels: []record.Level{record.Orderly, record.Sudden},
		Reporters: []string{"junit=junit.xml", "github"}, Settle: 5 * time.Second, Confirm: time.Second, Fast: true,
	}, p)
	for _, host := range []string{"./my-driver", "my-gateway.yaml", "supergateway@4.0.0"} {
		p, err = project.Parse("leakbench.yaml", []byte("host: "+host+"\n"))
		require.NoError(t, err)
		assert.Equal(t, host, p.Host)
	}
}

// TestDocExample: what the page shows can be read.
func TestDocExample(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/use/project-file.md")
	require.NoError(t, err)
	_, text, _ := strings.Cut(string(page), "```yaml\n")
	text, _, _ = strings.Cut(text, "```")
	p, err := project.Parse("leakbench.yaml", []byte(text))
	require.NoError(t, err)
	assert.Equal(t, "my-gateway.yaml", p.Host)
}

// TestErrors: each wrong file, and what is said of it.
func TestErrors(t *testing.T) {
	t.Parallel()
	yamltest.Errors(t, *update, func(name string, src []byte) error { _, err := project.Parse(name, src); return err }, nil)
}

// TestWhatInitWrites can be read, and needs no quotes that it does not have.
func TestWhatInitWrites(t *testing.T) {
	t.Parallel()
	p, err := project.Parse("leakbench.yaml", []byte(project.Text(`my "odd" host.yaml`, []string{"storm", "vanish"})))
	require.NoError(t, err)
	assert.Equal(t, `my "odd" host.yaml`, p.Host)
	assert.Equal(t, []string{"storm", "vanish"}, p.Scenarios)
}

// TestSchema: the committed schema is what the reader asks, and a validator that is not ours agrees with it.
func TestSchema(t *testing.T) {
	t.Parallel()
	const path = "../../../docs/schema/project.schema.json"
	yamltest.Schema(t, *update, path, project.Schema())
	schema, err := jsonschema.NewCompiler().Compile(path)
	require.NoError(t, err)
	require.NoError(t, schema.Validate(plain(t, full)))
	for _, wrong := range []string{"hots: naive\n", "scenarios: []\n", "level: [ordrly]\n", "settle: 5\n", "reporters: junit\n"} {
		_, err := project.Parse("leakbench.yaml", []byte(wrong))
		require.Error(t, err, wrong)
		assert.Error(t, schema.Validate(plain(t, wrong)), wrong)
	}
}

// plain is YAML as an editor holds it against a schema.
func plain(t *testing.T, src string) any {
	t.Helper()
	var v any
	require.NoError(t, yaml.Unmarshal([]byte(src), &v))
	text, err := json.Marshal(v)
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	return doc
}
