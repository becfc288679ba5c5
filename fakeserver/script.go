package fakeserver

import (
	"hash/fnv"
	"io"

	"github.com/leakbench/leakbench/internal/duration"
)

// Script is what a fake server does wrong, and when. The zero Script is a
// correct server of the legacy era.
type Script struct {
	// Era is which protocol the server speaks: "legacy" (initialize; it refuses
	// server/discover; the default), "legacy-mute" (initialize; it ignores
	// server/discover), "modern" (server/discover, no initialize) or "dual".
	Era    string  `json:"era,omitempty"`
	Faults []Fault `json:"faults,omitempty"`
}

// Duration is a time.Duration that reads and writes as text ("1.5s").
type Duration = duration.Duration

// Due reports whether f is for the given launch of label in a run with this
// seed. It is a function of nothing else: the bench plans with it what the
// server will do.
func (f Fault) Due(seed uint64, label string, launch int) bool {
	return f.selects(launch) && (f.Probability == 0 || f.chance(seed, label, launch) < f.Probability)
}

// Selective reports whether f is for some launches or some times alone. What a
// server without any such fault does, it does each time.
func (f Fault) Selective() bool {
	return f.Launch > 0 || f.Every > 0 || f.After > 0 || f.Probability > 0
}

// selects reports whether launch and every leave this launch to f.
func (f Fault) selects(launch int) bool {
	switch {
	case f.Every > 0:
		return launch%f.Every == 0
	case f.Launch > 0:
		return launch == f.Launch
	}
	return true
}

// chance is a number of at least 0 and less than 1. It is the same on every
// machine and in every version: a seed is there to have a play again. Faults
// of the same launch have numbers that do not depend on each other.
func (f Fault) chance(seed uint64, label string, launch int) float64 {
	h := fnv.New64a()
	for _, word := range []string{label, f.On, f.Do, f.Tool} {
		_, _ = io.WriteString(h, word+"\x00")
	}
	z := mix(h.Sum64() ^ mix(seed+uint64(launch)*golden))
	return float64(z>>11) / (1 << 53) // what a float64 holds
}

// golden is the step of SplitMix64, and mix its finaliser.
const golden = 0x9e3779b97f4a7c15

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
