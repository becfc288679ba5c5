package text

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
)

// Decoded is a text as UTF-8 without a byte order mark. PowerShell 5 writes UTF-16 with one (`>`), and Notepad can.
func Decoded(src []byte) []byte {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(src, []byte("\xff\xfe")):
		order = binary.LittleEndian
	case bytes.HasPrefix(src, []byte("\xfe\xff")):
		order = binary.BigEndian
	default:
		return bytes.TrimPrefix(src, []byte("\xef\xbb\xbf"))
	}
	if len(src)%2 != 0 {
		return src // it only looks so
	}
	units := make([]uint16, 0, len(src)/2)
	for i := 2; i < len(src); i += 2 {
		units = append(units, order.Uint16(src[i:]))
	}
	return []byte(string(utf16.Decode(units)))
}
