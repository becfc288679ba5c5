package text_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/text"
)

func TestNearest(t *testing.T) {
	names := []string{"storm", "cron", "reload", "hang", "crash", "shutdown", "grow"}
	for name, want := range map[string]string{
		"strom": "storm", "corn": "cron", "Reload": "reload", "shut": "shutdown", "carsh": "crash",
		"banana": "", "": "", "x": "", "gorw": "grow",
	} {
		assert.Equal(t, want, text.Nearest(name, names), "nearest to %q", name)
	}
	assert.Equal(t, "did you mean storm?", text.DidYouMean("storn", names))
	assert.Empty(t, text.DidYouMean("banana", names))
}
