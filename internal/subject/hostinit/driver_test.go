package hostinit_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/subject/hostinit"
)

func TestDriverFiles(t *testing.T) {
	t.Parallel()
	for _, language := range hostinit.Languages() {
		for _, folder := range []string{"mine", "/srv/mine", "../mine"} {
			files, commands, err := hostinit.Driver(language, folder)
			require.NoError(t, err)
			assert.NotEmpty(t, files[0].Content)
			last := commands[len(commands)-1]
			_, path, _ := strings.Cut(last, "--host ")
			assert.Contains(t, []string{".", "/"}, path[:1], "a path, and not the name of a host: %s", last)
			assert.NotContains(t, strings.Join(commands, " "), "%")
		}
	}
	_, _, err := hostinit.Driver("cobol", "mine")
	require.ErrorContains(t, err, "python, node, go, rust")
}
