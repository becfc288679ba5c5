package fakeserver

import (
	"bytes"
	"cmp"
)

// longLine is the length in MiB where the script gives none: more than most
// readers of lines take.
const longLine = 16

var longLineAction = action{
	name: "long-line", text: "answers with one line of mib MiB (16), else right; on order: an unasked notification",
	on:       []string{onDiscover, onInitialize, onList, onCall, onOrder},
	takes:    []string{"mib"},
	decides:  true,
	breaks:   always,
	passable: true,
	slow:     true,
	commit: func(s *server, f Fault, r *request) bool {
		before, after := s.splitLine(r)
		s.sendSplit(r, before, bytes.Repeat([]byte("x"), mebi), after, cmp.Or(f.MiB, longLine))
		return true
	},
}
