package host

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/observe/patience"
	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject"
)

// hungEnd is how long a command that hangs may take to end after it was asked to, before the bench kills it.
const hungEnd = 5 * time.Second

// jobLimit is how long a command of a oneshot host may take for a job; 0 of any other host.
func (r *run) jobLimit() record.Duration {
	if r.Host.Kind != record.KindOneshot {
		return 0
	}
	return cmp.Or(r.Host.Job, record.Duration(subject.JobWithin))
}

// endHung looks at the commands that did not exit in time, and at what is below them, and ends the commands: the next
// thing that is looked at shall not be they.
func (r *run) endHung(ctx context.Context, jobs []job, resp driver.Response) error {
	byStep := map[record.Identity]int{}
	for _, result := range resp.Jobs {
		i := slices.IndexFunc(jobs, func(j job) bool { return j.Session == result.Session })
		if result.PID == 0 || i < 0 {
			continue
		}
		census, err := r.Census(ctx)
		if err != nil {
			return err
		}
		rows := history.RowsOf(census)
		command := rows[record.Identity{PID: result.PID}]
		if command == nil {
			continue // it has ended after all
		}
		byStep[command.Identity] = i
		ids := []record.Identity{command.Identity}
		for _, p := range census.Processes {
			if p.Identity != command.Identity && rows.Below(&p, command.PID) {
				ids = append(ids, p.Identity)
			}
		}
		if jobs[i].keeps, err = r.Examine(ctx, ids); err != nil {
			return err
		}
		r.EmitCensus(record.CensusSample, "", census)
	}
	for _, signal := range []string{proc.Asks, "SIGKILL"} {
		if err := r.endAll(ctx, byStep, signal); err != nil {
			return err
		}
	}
	return nil
}

// endAll signals processes, and waits until they are gone.
func (r *run) endAll(ctx context.Context, left map[record.Identity]int, signal string) error {
	for id := range left {
		_ = r.Keeper.Signal(ctx, id, signal) // one that has ended meanwhile is not there any more
	}
	deadline := time.Now().Add(hungEnd)
	for len(left) > 0 && time.Now().Before(deadline) {
		census, err := r.Census(ctx)
		if err != nil {
			return err
		}
		rows := history.RowsOf(census)
		for id := range left {
			if !rows.Alive(id) {
				delete(left, id)
			}
		}
		if err := patience.UntilChange(ctx, r.newsChan(), lookMax); err != nil {
			return err
		}
	}
	return nil
}
