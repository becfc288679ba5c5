package host

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/observe/patience"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/scenarios"
)

// lookMin and lookMax bound how often the census is taken while a checkpoint
// waits: a zombie that is reaped, or a wrapper that exits, sends no word.
const (
	lookMin = 10 * time.Millisecond
	lookMax = 250 * time.Millisecond
)

// checkpoint waits until the state is what it must be, or until it is clear
// that it will not be in time, and writes down what it saw.
func (r *run) checkpoint(ctx context.Context, name string, live map[string]int) error {
	cp := record.Checkpoint{Name: name, HostGone: r.gone(), Wants: r.wants(live)}
	r.forgetAtHostEnd(cp.HostGone)
	r.Emit(record.Event{Kind: record.CheckpointBegun, Checkpoint: &cp})
	begun, w := time.Now(), r.newWatch()
	quiet, state, err := r.settle(ctx, &cp, w, r.limits.Settle.D())
	if err != nil {
		return err
	}
	r.EmitCensus(record.CensusSettled, name, state.census)
	if !quiet {
		if err := r.confirm(ctx, &cp, w, state); err != nil {
			return err
		}
	}
	cp.Quiet, cp.Waited = quiet, record.Duration(time.Since(begun))
	r.Emit(record.Event{Kind: record.CheckpointEnded, Checkpoint: &cp})
	return nil
}

// wants is what must be alive now: one server for each open session, and no other. Where sessions are unknown: at
// most one server of each label, and none once the host is gone.
func (r *run) wants(live map[string]int) []record.Want {
	if r.gone() {
		return nil
	}
	var wants []record.Want
	if r.sessionsUnknown() {
		for _, label := range r.labels {
			wants = append(wants, r.wantOf(label))
		}
		return wants
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	kept, spare := r.lives.Kept(r.profile.Resident), map[string]bool{}
	for label, n := range live {
		wants = append(wants, record.Want{Label: label, Live: n, Spare: r.profile.Spare, AtMost: r.profile.Idle > 0})
	}
	for name, s := range r.sessions {
		if _, told := live[s.label]; told {
			continue
		}
		n := 0
		// The host has not answered: it may have a server, or none.
		connecting := s.state == record.SessionOpening || s.state == record.SessionEnding
		if s.state == record.SessionOpen || connecting {
			n = 1
		}
		wants = append(wants, record.Want{Label: s.label, Session: name, Live: n, Spare: kept[name], AtMost: r.profile.Idle > 0 || connecting})
		if r.profile.Spare > 0 && !spare[s.label] {
			spare[s.label] = true
			wants = append(wants, record.Want{Label: s.label, Spare: r.profile.Spare})
		}
	}
	slices.SortFunc(wants, func(a, b record.Want) int {
		return strings.Compare(a.Label+"\x00"+a.Session, b.Label+"\x00"+b.Session)
	})
	return wants
}

// wantOf is what of a label may be alive where sessions are unknown.
func (r *run) wantOf(label string) record.Want {
	spare, live := r.profile.Resident+r.profile.Spare, 1
	if r.sharing == record.Either { // a process for each session is a way to share an entry
		live = max(live, len(r.openSessions(label)))
	}
	return record.Want{Label: label, Live: live, AtMost: true, Spare: spare, Together: r.together()}
}

// together is how many servers a command launches for one connection, where its file says more than one.
func (r *run) together() int {
	if r.Host.Launches > 1 {
		return r.Host.Launches
	}
	return 0
}

// state is what a look at a checkpoint saw that should not be.
type state struct {
	census  *record.Census
	extra   []record.Identity // servers, and after the host's end anything
	zombies []record.Identity
	missing []record.Want
	unclear bool // the witnesses do not agree yet
}

func (s *state) survivors() []record.Identity {
	ids := slices.Concat(s.extra, s.zombies)
	slices.SortFunc(ids, func(a, b record.Identity) int { return a.PID - b.PID })
	return slices.Compact(ids)
}

func (s *state) right() bool {
	return len(s.extra)+len(s.zombies)+len(s.missing) == 0 && !s.unclear
}

// settle looks until the state has been right for a while, at most for the time limit. What an earlier checkpoint has
// waited for is not waited for again, but is in the returned state. How far the wait was stretched is added to the checkpoint.
func (r *run) settle(ctx context.Context, cp *record.Checkpoint, w *watch, limit time.Duration) (bool, *state, error) {
	deadline, quiet := patience.Deadline{Limit: limit}, r.limits.Quiet.D()
	var rightSince time.Time
	defer func() { // what was right in time, and stayed so, needed no stretching
		if rightSince.IsZero() || !deadline.Keeps(rightSince) {
			deadline.Note(cp, time.Now())
		}
	}()
	var still patience.Freeze
	pause := lookMin
	for {
		news, next := r.newsChan(), time.Now().Add(lookMin)
		all, waitFor, err := r.look(ctx, *cp)
		if err != nil {
			return false, nil, err
		}
		deadline.See(*all.census.Load)
		w.see(*all.census.Load)
		now := time.Now()
		switch {
		case !waitFor.right():
			rightSince = time.Time{}
		case rightSince.IsZero():
			rightSince, pause = now, quiet
		case now.Sub(rightSince) >= quiet:
			return all.right(), all, nil
		}
		left := deadline.Left(now)
		if left <= 0 {
			return all.right(), all, nil
		}
		if why := r.early(w, &still, cp, all, waitFor, now); why != "" {
			cp.Early = why
			return false, all, nil
		}
		r.tell(w, cp, waitFor, now, left)
		if err := patience.UntilNews(ctx, news, next, w.within(min(pause, left), now)); err != nil {
			return false, nil, err
		}
		pause = min(2*pause, lookMax)
	}
}

func (r *run) newsChan() chan struct{} { return under(r, func() chan struct{} { return r.news }) }

// look takes a census and holds it against the ledger and the wants. The
// second state leaves out what an earlier checkpoint has waited for.
func (r *run) look(ctx context.Context, cp record.Checkpoint) (all, waitFor *state, err error) {
	census, err := r.Loaded(ctx)
	if err != nil {
		return nil, nil, err
	}
	r.ledger.Drain()
	r.emitNewcomers(census)
	r.mu.Lock()
	defer r.mu.Unlock()
	unseen, parents := map[record.Identity]bool{}, map[int]bool{r.Keeper.Hello.PID: true}
	for _, s := range r.lives.Alive() {
		unseen[s.Birth.Identity] = true
		parents[s.Birth.PID] = true // its zombies are its own: nobody else can wait for them
	}
	extra, missing := r.lives.Reconcile(cp.Wants)
	strays := r.lives.Strays(cp.Wants, census.Processes)
	all = &state{census: census, missing: missing, extra: slices.Concat(
		lists.Map(extra, func(s *history.Server) record.Identity { return s.Birth.Identity }),
		lists.Map(strays, func(s history.Stray) record.Identity { return s.Identity }),
	)}
	rows := history.RowsOf(census)
	for _, p := range census.Processes {
		born := unseen[p.Identity]
		delete(unseen, p.Identity)
		switch {
		case p.State == record.StateZombie:
			if !parents[p.PPID] && !r.lives.IsKeeper(p.PPID) {
				all.zombies = append(all.zombies, p.Identity)
			}
		case cp.HostGone || r.lives.Leaver(p, rows, r.lives.Life()) != nil:
			all.extra = append(all.extra, p.Identity)
		case history.IsServer(&p, r.ID) && !born: // a fake server without a birth certificate
			all.unclear = true
		}
	}
	// The ledger calls alive what the census does not see.
	all.unclear = all.unclear || len(unseen) > 0
	return all, r.unknown(all), nil
}

// lacksFinalCheckpoint says that the scenario itself did not look once the host was gone.
func (r *run) lacksFinalCheckpoint() bool {
	return slices.Contains(r.Scenario.Plan(r.Seed).Checkpoints, scenarios.FinalCheckpoint)
}

// lookAtStart writes down what a host has below it that was not asked for
// anything yet. A command is asked for its server as it is started.
func (r *run) lookAtStart(ctx context.Context) error {
	if r.isCommand() || r.gone() {
		return nil
	}
	census, err := r.Census(ctx)
	if err != nil {
		return err
	}
	r.EmitCensus(record.CensusStarted, "", census)
	return nil
}
