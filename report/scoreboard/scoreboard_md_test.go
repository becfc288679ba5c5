package scoreboard_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/judge/scoreboard"
	boards "github.com/leakbench/leakbench/report/scoreboard"
)

// A page of Markdown has tables that can be read: with many hosts several, of
// about the same width, and each host in one of them.
func TestScoreboardMarkdownIsNotTooWide(t *testing.T) {
	t.Parallel()
	board := &scoreboard.Board{Scenarios: []scoreboard.Scenario{{Name: "storm", Title: "A storm"}, {Name: "cron", Title: "Cron"}}}
	for i := range 18 {
		board.Hosts = append(board.Hosts, scoreboard.Host{ID: fmt.Sprint("h", i), Name: fmt.Sprint("h", i)})
	}
	var b bytes.Buffer
	boards.Markdown(&b, board, nil)
	var heads []string
	for line := range strings.Lines(b.String()) {
		if strings.HasPrefix(line, "| | ") {
			heads = append(heads, strings.TrimSpace(line))
		}
	}
	assert.Equal(t, []string{
		"| | h0 | h1 | h2 | h3 | h4 | h5 |", "| | h6 | h7 | h8 | h9 | h10 | h11 |", "| | h12 | h13 | h14 | h15 | h16 | h17 |",
	}, heads)
	assert.Equal(t, 3, strings.Count(b.String(), "| <code>storm</code> |"))
}
