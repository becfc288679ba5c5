package fakeserver

// badUTF8 has a byte that no UTF-8 has, half a character, one in too many
// bytes, and half of a surrogate pair.
const badUTF8 = "\xff \xe2\x82 \xc0\xaf \xed\xa0\x80"

var badUTF8Action = action{
	name: "bad-utf8", text: "answers with a text in _meta that is no UTF-8, else right; on order: an unasked notification",
	on:       []string{onDiscover, onInitialize, onList, onCall, onOrder},
	decides:  true,
	breaks:   always,
	passable: true,
	slow:     true,
	commit: func(s *server, _ Fault, r *request) bool {
		before, after := s.splitLine(r)
		s.sendSplit(r, before, []byte(badUTF8), after, 1)
		return true
	},
}
