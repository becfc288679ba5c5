package acceptance_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/play"
)

// How long a turn takes at the most when little else is under way, roughly: who takes long begins early.
const (
	short  = 5 * time.Second
	medium = 15 * time.Second
	long   = 30 * time.Second
	chain  = time.Minute // of several that wait for each other
)

// company is who plays at the same time.
type company int

const (
	besideAll company = iota // as many as the machine carries
	besideFew                // one for each processor at most
	alone
)

// queue is where everything that this package plays or builds waits for its turn: as much goes side by side as the machine
// carries, which leakbench run does too, those that take long first. What is played alone is played at the end.
type queue struct {
	most    func() int         // that go side by side
	few     int                // likewise, of those who bear few
	carries func(now int) bool // the machine, beside so many, one more

	sync.Mutex
	waiting []*turn
	now     [alone + 1]int // that are under way, by their company
	serving bool
}

type turn struct {
	long  time.Duration
	among company
	ready chan struct{}
}

var turns = queue{most: most, few: play.Processors(), carries: carries}

// takeTurn waits until something may be played in such company that takes so long. It returns a function that ends its turn.
func takeTurn(t *testing.T, among company, long time.Duration) (done func()) {
	t.Helper()
	done = turns.take(long, among)
	t.Cleanup(done) // of a test that fails meanwhile
	return done
}

func (q *queue) take(long time.Duration, among company) (done func()) {
	mine := &turn{long: long, among: among, ready: make(chan struct{})}
	q.Lock()
	q.waiting = append(q.waiting, mine)
	q.serve()
	q.Unlock()
	<-mine.ready
	return sync.OnceFunc(func() {
		q.Lock()
		defer q.Unlock()
		q.now[among]--
		q.serve()
	})
}

// serve sees to it that somebody calls those whose turn it is. It is called with the lock held.
func (q *queue) serve() {
	if !q.serving {
		q.serving = true
		go q.call()
	}
}

// call calls whose turn it is until nobody can be called before another one has ended.
func (q *queue) call() {
	for {
		q.Lock()
		next, now := q.next(), q.all()
		if next == nil {
			q.serving = false
			q.Unlock()
			return
		}
		q.Unlock()
		if !q.carries(now) {
			continue
		}
		q.Lock()
		if next = q.next(); next != nil { // somebody who takes longer may have come
			q.waiting = slices.DeleteFunc(q.waiting, func(t *turn) bool { return t == next })
			q.now[next.among]++
			close(next.ready)
		}
		q.Unlock()
	}
}

// all is how many are under way.
func (q *queue) all() (n int) {
	for _, now := range q.now {
		n += now
	}
	return n
}

// next is who may be called: of those who want most company the one who takes longest, unless that is more than somebody bears.
func (q *queue) next() (first *turn) {
	for _, t := range q.waiting {
		if first == nil || t.among < first.among || t.among == first.among && t.long > first.long {
			first = t
		}
	}
	if first == nil {
		return nil
	}
	for among, limit := range [...]int{besideAll: q.most(), besideFew: q.few, alone: 1} {
		if bears := first.among >= company(among) || q.now[among] > 0; bears && q.all() >= limit {
			return nil
		}
	}
	return first
}

// most is how many go side by side: half as many more as leakbench run plays, since what goes wrong beside so many is played again beside
// few. Under the race detector every process of a run costs several times as much.
func most() int {
	if raceDetector {
		return play.Processors()
	}
	return play.Jobs() * 3 / 2
}

// carries says that the machine carries one more beside those of now. A few always go side by side: of runs that mostly wait
// a processor carries three, whatever else keeps the machine busy.
func carries(now int) bool {
	return now < min(3*play.Processors(), most()) || play.Carries(now)
}

// TestTurns: who takes long comes first, and who is to be alone comes last and is alone.
func TestTurns(t *testing.T) {
	t.Parallel()
	q := &queue{most: func() int { return 2 }, few: 1, carries: func(int) bool { return true }}
	first, second := q.take(short, besideAll), q.take(short, besideAll)
	came := make(chan string, 4)
	ends := map[string]chan struct{}{}
	var all sync.WaitGroup
	for name, asks := range map[string]turn{
		"alone": {long: chain, among: alone}, "few": {long: chain, among: besideFew},
		"short": {long: short}, "long": {long: long}, "medium": {long: medium},
	} {
		end := make(chan struct{})
		ends[name] = end
		all.Go(func() {
			defer q.take(asks.long, asks.among)()
			came <- name
			<-end
		})
	}
	require.Eventually(t, func() bool { q.Lock(); defer q.Unlock(); return len(q.waiting) == len(ends) }, 10*time.Second, time.Millisecond)
	first()
	require.Equal(t, "long", <-came)
	close(ends["long"])
	require.Equal(t, "medium", <-came)
	second()
	require.Equal(t, "short", <-came)
	close(ends["medium"])
	q.Lock()
	assert.Nil(t, q.next(), "one is under way")
	q.Unlock()
	close(ends["short"])
	require.Equal(t, "few", <-came)
	q.Lock()
	assert.Nil(t, q.next(), "one is to be alone")
	q.Unlock()
	close(ends["few"])
	require.Equal(t, "alone", <-came)
	q.Lock()
	assert.Equal(t, [...]int{alone: 1}, q.now)
	q.Unlock()
	close(ends["alone"])
	all.Wait()
}
