package fakeserver

import "os"

func growAction() action {
	return action{
		name: "grow", text: "grows to mib MiB of resident memory and stays there",
		on:    []string{onStart, onCall, onOrder},
		needs: "mib",
		commit: func(s *server, f Fault, _ *request) bool {
			s.ballast.grow(f.MiB)
			return false
		},
	}
}

const mebi = 1 << 20

func (b *ballast) grow(mib int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fill(mib)
}

// fill allocates until there are mib MiB, and writes to each page: memory that
// is only allocated is not resident. The blocks are never let go.
func (b *ballast) fill(mib int) {
	page := os.Getpagesize()
	for len(b.blocks) < mib {
		block := make([]byte, mebi)
		for i := 0; i < len(block); i += page {
			block[i] = 1
		}
		b.blocks = append(b.blocks, block)
	}
}
