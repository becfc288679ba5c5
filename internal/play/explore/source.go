package explore

import (
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/leakbench/leakbench/internal/play/explore/cover"
	"github.com/leakbench/leakbench/internal/play/explore/grammar"
	"github.com/leakbench/leakbench/scenarios"
)

// source makes scenarios, one after the other. Each is the one of some candidates that aims at most of what none before it has aimed
// at. It goes by aims, and not by what runs came to: so that the seed alone says which scenarios there are, whatever the machine.
type source struct {
	seed  uint64
	reach grammar.Reach
	cells []cover.Cell
	table map[cover.Cell]bool
	aimed map[cover.Cell]int
}

// candidates is how many are made for each scenario that is played.
const candidates = 8

// calm is how often a scenario without any fault comes, which fills no cell.
const calm = 8

func newSource(seed uint64, r grammar.Reach) *source {
	s := &source{seed: seed, reach: r, cells: cover.Table(r), table: map[cover.Cell]bool{}, aimed: map[cover.Cell]int{}}
	for _, c := range s.cells {
		s.table[c] = true
	}
	return s
}

// next makes the n-th scenario, from 0.
func (s *source) next(n int) (*scenarios.Scenario, error) {
	name := fmt.Sprintf("x-%s-%d", strconv.FormatUint(s.seed, 36), n+1)
	var best *scenarios.Scenario
	most := -1.0
	for k := range candidates {
		if k > 0 && n%calm == calm-1 {
			break
		}
		random := rand.New(rand.NewPCG(s.seed, uint64(n*candidates+k)))
		p := grammar.Params{Reach: s.reach, Name: name, Calm: n%calm == calm-1}
		if k%2 == 0 && !p.Calm {
			p.Want = s.leastAimed(random)
		}
		c := grammar.Make(random, p)
		if score := s.score(c); score > most {
			best, most = c, score
		}
	}
	again, err := scenarios.Parse(name+".yaml", []byte(best.Text()))
	if err != nil {
		return nil, fmt.Errorf("the grammar has made a scenario that can't be read: %w", err)
	}
	s.aim(again)
	return again, nil
}

// aim notes what a scenario aims at.
func (s *source) aim(made *scenarios.Scenario) {
	for _, c := range cover.Aims(made) {
		s.aimed[c]++
	}
}

func (s *source) score(made *scenarios.Scenario) (sum float64) {
	for _, c := range cover.Aims(made) {
		if s.table[c] {
			n := float64(1 + s.aimed[c])
			sum += 1 / (n * n)
		}
	}
	return sum
}

// leastAimed is one of the cells that were tried least.
func (s *source) leastAimed(random *rand.Rand) cover.Cell {
	var least []cover.Cell
	for _, c := range s.cells {
		switch {
		case len(least) == 0 || s.aimed[c] < s.aimed[least[0]]:
			least = []cover.Cell{c}
		case s.aimed[c] == s.aimed[least[0]]:
			least = append(least, c)
		}
	}
	return least[random.IntN(len(least))]
}

// mix is a number that follows from two others (the finaliser of SplitMix64).
func mix(seed, n uint64) uint64 {
	z := seed + (n+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
