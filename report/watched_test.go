package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestWatchedPage: the page of a watch has the table that the terminal shows, in its words, and says nothing of what nobody saw.
func TestWatchedPage(t *testing.T) {
	t.Parallel()
	page := output(t, "html", watchedRun(t, "zoo"))
	assert.Equal(t, 1, strings.Count(page, "<h3>Processes</h3>"))
	rows := strings.Split(page, "<tr class=")
	row := func(pid string) string {
		for _, r := range rows {
			if strings.Contains(r, `<th scope="row">`+pid+"</th>") {
				return r
			}
		}
		return ""
	}
	assert.Contains(t, row("27004"), `"bad"`)
	assert.Contains(t, row("27004"), `<td class="status">eof-withheld</td>`)
	assert.Contains(t, row("27089"), "<td>server cat</td>")
	assert.NotContains(t, row("27089"), `"bad"`)
	assert.Contains(t, row("27160"), "a zombie of pid 27157, which alone can wait for it")
	assert.Contains(t, page, "<dt>Looks</dt><dd>11</dd>")
	assert.Contains(t, page, "cat (for example pid 27089): 1 alive, launched in 1 generation")
	for _, never := range []string{"Servers launched", "<dt>Steps</dt>", "Peak alive"} {
		assert.NotContains(t, page, never, "it was there before anybody looked")
	}
	assert.NotContains(t, output(t, "html", realRun(t, "storm-naive")), "<h3>Processes</h3>")

	ended := output(t, "html", watchedRun(t, "ends"))
	assert.Contains(t, ended, "gone since 3.008 s; nobody but its parent knows how")
	assert.Contains(t, ended, "<dt>Host ended</dt><dd>while it was watched</dd>")
}
