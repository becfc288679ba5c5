package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/leakbench/leakbench/internal/judge/known"
)

// Known writes a list of known findings with what became of each entry. The
// error is w's.
func Known(w io.Writer, file string, all []known.Checked, o TextOptions) error {
	var buf bytes.Buffer
	p := newPrinter(&buf, o)
	looks := map[known.State]style{known.Stale: warn | strong, known.Expired: warn | strong, known.Found: good}
	for i := range all {
		e := &all[i]
		host := ""
		if e.Host != "" {
			host = " on " + e.Host
		}
		p.item(0, pad(string(e.State), 10), looks[e.State], fmt.Sprintf("%s%s  ", e.Finding(), host), strong, e.Text(), 0)
		p.field(10, 0, "", e.Reason)
	}
	if len(all) == 0 {
		p.item(0, "", 0, "", 0, file+" lists nothing", 0)
	}
	_, err := w.Write(buf.Bytes())
	return err
}

// KnownJSON is Known as one object. The error is w's.
func KnownJSON(w io.Writer, all []known.Checked) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetIndent("", "  ")
	if err := enc.Encode(map[string]any{"known": toJSONEntries(all)}); err != nil {
		return fmt.Errorf("encoding the list: %w", err)
	}
	_, err := w.Write(escapeObscure(buf.Bytes()))
	return err
}
