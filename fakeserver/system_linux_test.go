package fakeserver

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCleanMappings(t *testing.T) {
	t.Parallel()
	const smaps = `00400000-00500000 r-xp 00000000 fd:00 12 /opt/a b
Size:               1024 kB
Anonymous:             0 kB
VmFlags: rd ex mr
00500000-00600000 r--p 00100000 fd:00 12 /opt/relocated
Anonymous:             4 kB
00600000-00700000 rw-p 00100000 fd:00 12 /opt/data
Anonymous:             0 kB
00700000-00800000 r--s 00100000 fd:00 12 /opt/shared
Anonymous:             0 kB
7f0000000000-7f0000001000 r-xp 00000000 00:00 0 [vdso]
Anonymous:             0 kB
nonsense
Anonymous:             0 kB
`
	assert.Equal(t, []mapping{{0x400000, 0x100000}}, cleanMappings(strings.NewReader(smaps)))
}
