package fakeserver

import "os"

var growAction = action{
	name: "grow", text: "grows to mib MiB of resident memory and stays there",
	on:    []string{onStart, onCall, onOrder},
	needs: "mib",
	commit: func(s *server, f Fault, _ *request) bool {
		s.ballast.swell(f.MiB, f.MiB)
		return false
	},
}

const mebi = 1 << 20

// swell adds step MiB, to most at the most, and returns how much there is. It
// writes to each page: memory that is only allocated is not resident. The
// blocks are never let go.
func (b *ballast) swell(step, most int) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	page, want := os.Getpagesize(), min(len(b.blocks)+step, most)
	for len(b.blocks) < want {
		block := make([]byte, mebi)
		for i := 0; i < len(block); i += page {
			block[i] = 1
		}
		b.blocks = append(b.blocks, block)
	}
	return len(b.blocks)
}
