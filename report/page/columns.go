package page

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"html/template"
)

// columns are lists of numbers, each written as the differences of its values
// in zig-zag varints: what changes slowly takes a byte, and a column without a
// change nothing once it is compressed.
type columns struct {
	Names  []string `json:"names"`
	Counts []int    `json:"counts"`
	data   []byte
}

func (c *columns) add(name string, values []int64) {
	c.Names, c.Counts = append(c.Names, name), append(c.Counts, len(values))
	last := int64(0)
	for _, v := range values {
		c.data = binary.AppendVarint(c.data, v-last)
		last = v
	}
}

// packed is a block of data for the page's script: the length of a JSON object
// as a varint, the object, then the columns; compressed, in base64, whose
// letters can't be markup.
func packed(meta any, data []byte) (template.HTML, error) {
	head, err := json.Marshal(meta)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.DefaultCompression)
	if err != nil {
		return "", err
	}
	for _, part := range [][]byte{binary.AppendUvarint(nil, uint64(len(head))), head, data} {
		if _, err := z.Write(part); err != nil {
			return "", err
		}
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	return template.HTML(base64.StdEncoding.EncodeToString(b.Bytes())), nil //nolint:gosec // base64
}
