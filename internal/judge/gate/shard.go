package gate

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/verdict"
)

// Shard is one of several machines that share the plays: Index from 1 to Count. The zero value is the only one.
type Shard struct {
	Index int `json:"index"`
	Count int `json:"count"`
}

// maxShards bounds what a typing error costs.
const maxShards = 1000

// JobIndex is the variable in which a Kubernetes Indexed Job tells a pod its index, from 0.
const JobIndex = "JOB_COMPLETION_INDEX"

// ParseShard reads "2/4", or "job/4": then the index is that of JobIndex, which getenv gives.
func ParseShard(text string, getenv func(string) string) (Shard, error) {
	if text == "" {
		return Shard{}, nil
	}
	index, count, _ := strings.Cut(text, "/")
	of, err := strconv.Atoi(count)
	if err != nil || of < 1 || of > maxShards {
		return Shard{}, fmt.Errorf("%q is not a shard; write it like 1/4", text)
	}
	if index == "job" {
		at, err := strconv.Atoi(getenv(JobIndex))
		if s := (Shard{at + 1, of}); err == nil && s.Valid() {
			return s, nil
		}
		return Shard{}, fmt.Errorf("%s is %q; for job/%d it is 0 to %d", JobIndex, getenv(JobIndex), of, of-1)
	}
	at, err := strconv.Atoi(index)
	if s := (Shard{at, of}); err == nil && s.Valid() {
		return s, nil
	}
	return Shard{}, fmt.Errorf("%q is not a shard: of %d, use 1/%d to %d/%d", text, of, of, of, of)
}

// Valid says that there can be such a shard: a file may say anything.
func (s Shard) Valid() bool {
	return s == Shard{} || s.Count >= 1 && s.Count <= maxShards && s.Index >= 1 && s.Index <= s.Count
}

func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Count) }

// Costed is a scenario with what playing it takes.
type Costed struct {
	Name string
	Cost time.Duration
}

// Split says which of the plays each of n shards has, and the mark by which shards that were split alike know each
// other. It depends on the names and costs alone, not on their order. Costs are rounded, so that a run that was a
// little slower moves nothing.
func Split(plays []Costed, n int) (shards [][]string, mark string) {
	sorted := slices.Clone(plays)
	for i := range sorted {
		sorted[i].Cost = round(sorted[i].Cost)
	}
	slices.SortFunc(sorted, func(a, b Costed) int { return cmp.Or(cmp.Compare(b.Cost, a.Cost), cmp.Compare(a.Name, b.Name)) })
	shards, loads := make([][]string, n), make([]time.Duration, n)
	sum := sha256.New()
	for _, p := range sorted {
		at := slices.Index(loads, slices.Min(loads))
		shards[at] = append(shards[at], p.Name)
		loads[at] += p.Cost
		fmt.Fprintf(sum, "%d %s\n", at, p.Name)
	}
	return shards, hex.EncodeToString(sum.Sum(nil)[:6])
}

// round is the nearest power of the square root of two, in seconds.
func round(d time.Duration) time.Duration {
	seconds := max(d.Seconds(), 0.25)
	return time.Duration(math.Exp2(math.Round(2*math.Log2(seconds))/2) * float64(time.Second))
}

// CostOf is how long a scenario took in earlier runs, whatever the host: the longest of them, since a leak is waited for. 0: none tells.
func CostOf(scenario string, earlier []verdict.Judged) (longest time.Duration) {
	for i := range earlier {
		if compare.PlayOf(&earlier[i]).Scenario == scenario {
			for k := range earlier[i].Run.Events {
				longest = max(longest, time.Duration(earlier[i].Run.Events[k].T))
			}
		}
	}
	return longest
}
