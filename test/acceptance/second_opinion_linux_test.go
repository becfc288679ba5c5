package acceptance_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/test/judge2"
)

// watched has the second judge watch each play of a player, and holds it against the first. Where others are played meanwhile,
// which keep it from looking in time, that they disagree is a doubt: then it is played alone.
func watched(t *testing.T, alone bool, one play.Player) play.Player {
	t.Helper()
	return func(ctx context.Context, c play.Cell) (*verdict.Judged, error) {
		second := judge2.Watch()
		j, err := one(ctx, c)
		second.End()
		if err == nil {
			left := second.Left(j.Run)
			disagree := second.Saw && disagrees(j.Verdict, left)
			if disagree && !alone {
				j.Verdict.Doubts = append(j.Verdict.Doubts, verdict.Doubt{Code: "second-judge", Text: fmt.Sprint(left)})
			}
			assert.False(t, disagree && alone, "%s on %s: the second judge says that this was left: %v\n%s", c.Scenario.Name, j.Run.Header.Host.Name, left, account(*j))
		}
		return j, err
	}
}

// disagrees says that one judge found something left and the other did not.
func disagrees(v verdict.Verdict, left []string) bool {
	laws, kinds := []string{}, []string{}
	for _, f := range v.Findings {
		laws = append(laws, f.Law)
		if f.Law == "L1" || f.Law == "L2" {
			kinds = append(kinds, f.Kind)
		}
	}
	return v.Outcome != verdict.Inconclusive && opposed(laws, kinds, left)
}

// opposed says that findings say something else than the second judge. A server that was late, or was gone before anybody
// looked, is found by the first judge alone.
func opposed(laws, kinds, left []string) bool {
	found := slices.Contains(laws, "L1") || slices.Contains(laws, "L2")
	alone := len(kinds) > 0 && !slices.ContainsFunc(kinds, func(k string) bool { return k != "late" && k != "ghost" })
	return found != (len(left) > 0) && (!alone || !found)
}
