// Package bisect finds the version of a host with which a finding begins, by playing versions between one that is good and one that is bad.
package bisect

import (
	"errors"
	"fmt"
	"slices"
)

// Outcome is what a version is.
type Outcome string

// The outcomes. Skip is a version that can't be decided: it can't be installed or played, or its run is inconclusive.
const (
	Good Outcome = "good"
	Bad  Outcome = "bad"
	Skip Outcome = "skip"
)

// Try is a version that was played.
type Try struct {
	Version string   `json:"version"`
	Outcome Outcome  `json:"outcome"`
	Shows   []string `json:"shows"` // laws with kinds, "L2 escaped"; why it is skipped
	Dir     string   `json:"dir"`   // of its run, or ""
}

// Result is what came of a search.
type Result struct {
	LastGood string   `json:"last_good"`
	FirstBad string   `json:"first_bad"`
	Skipped  []string `json:"skipped"` // between the two: each of them may be the first bad one, too
	Tries    []Try    `json:"tries"`   // in the order in which they were played
}

// ErrEnds says that an end of the range is not what it was said to be.
var ErrEnds = errors.New("an end of the range is not as stated")

// ErrSame says that the range has one version.
var ErrSame = errors.New("the good version is the bad one")

// Between are the versions from good to bad, both included; backwards where the bad one is the older one.
func Between(all []string, good, bad string) ([]string, error) {
	for _, v := range []string{good, bad} {
		if !slices.Contains(all, v) {
			return nil, fmt.Errorf("the registry has no version %q", v)
		}
	}
	from, to := slices.Index(all, good), slices.Index(all, bad)
	if from == to {
		return nil, ErrSame
	}
	between := slices.Clone(all[min(from, to) : max(from, to)+1])
	if from > to {
		slices.Reverse(between)
	}
	return between, nil
}

// Search plays versions, the good one first and the bad one last, until two neighbours differ. A version is tried once.
func Search(versions []string, try func(version string) (Try, error)) (Result, error) {
	s := searching{versions: versions, try: try, skipped: map[int]bool{}, Result: Result{Tries: []Try{}, Skipped: []string{}}}
	last := len(versions) - 1
	s.LastGood, s.FirstBad = versions[0], versions[last]
	for _, end := range []struct {
		at   int
		want Outcome
	}{{last, Bad}, {0, Good}} {
		t, err := s.play(end.at)
		if err != nil {
			return s.Result, err
		}
		if t.Outcome != end.want {
			return s.Result, fmt.Errorf("%w: %s should be %s, and is %s", ErrEnds, versions[end.at], end.want, t.Outcome)
		}
	}
	good, bad, err := s.narrow(0, last)
	s.LastGood, s.FirstBad = versions[good], versions[bad]
	for i := good + 1; i < bad; i++ {
		s.Skipped = append(s.Skipped, versions[i])
	}
	return s.Result, err
}

type searching struct {
	Result
	versions []string
	try      func(string) (Try, error)
	skipped  map[int]bool
}

func (s *searching) play(at int) (Try, error) {
	t, err := s.try(s.versions[at])
	if err == nil {
		s.Tries = append(s.Tries, t)
	}
	return t, err
}

// narrow halves the range until nothing between its ends can be decided.
func (s *searching) narrow(good, bad int) (int, int, error) {
	for {
		left := s.between(good, bad)
		if len(left) == 0 {
			return good, bad, nil
		}
		at := left[(len(left)-1)/2]
		t, err := s.play(at)
		switch {
		case err != nil:
			return good, bad, err
		case t.Outcome == Good:
			good = at
		case t.Outcome == Bad:
			bad = at
		default:
			s.skipped[at] = true
		}
	}
}

// between are those that were not skipped.
func (s *searching) between(good, bad int) (left []int) {
	for i := good + 1; i < bad; i++ {
		if !s.skipped[i] {
			left = append(left, i)
		}
	}
	return left
}
