package baseline

import (
	"bytes"
	"fmt"

	"github.com/leakbench/leakbench/internal/judge/known"
	"github.com/leakbench/leakbench/report/terminal"
)

// Known writes a list of known findings with what became of each entry.
func Known(b *bytes.Buffer, file string, all []known.Checked, o terminal.Options) {
	p := terminal.NewPrinter(b, o)
	looks := map[known.State]terminal.Style{known.Stale: terminal.Warn | terminal.Strong, known.Expired: terminal.Warn | terminal.Strong, known.Found: terminal.Good}
	for i := range all {
		e := &all[i]
		host := ""
		if e.Host != "" {
			host = " on " + e.Host
		}
		p.Item(0, terminal.Pad(string(e.State), 10), looks[e.State], fmt.Sprintf("%s%s  ", e.Finding(), host), terminal.Strong, e.Text(), 0)
		p.Field(10, 0, "", e.Reason)
	}
	if len(all) == 0 {
		p.Item(0, "", 0, "", 0, file+" lists nothing", 0)
	}
}
