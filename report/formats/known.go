package formats

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/leakbench/leakbench/internal/judge/known"
	"github.com/leakbench/leakbench/report/words"
)

// KnownJSON is Known as one object. The error is w's.
func KnownJSON(w io.Writer, all []known.Checked) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetIndent("", "  ")
	if err := enc.Encode(map[string]any{"known": toJSONEntries(all)}); err != nil {
		return fmt.Errorf("encoding the list: %w", err)
	}
	_, err := w.Write(words.EscapeObscure(buf.Bytes()))
	return err
}
