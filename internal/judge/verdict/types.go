package verdict

import (
	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/attach"
	"github.com/leakbench/leakbench/internal/judge/breach"
	"github.com/leakbench/leakbench/internal/record"
)

// Outcome is the verdict in one word.
type Outcome string

// The outcomes. A run with findings that are errors is Leak, doubts or not: a leak that was seen is a fact. A run
// without them but with a doubt is Inconclusive, never Clean.
const (
	Clean        Outcome = "clean"
	Leak         Outcome = "leak"
	Inconclusive Outcome = "inconclusive"
)

// Verdict is what the bench says of a run. It is a function of the run alone.
type Verdict struct {
	Outcome  Outcome      `json:"outcome"`
	Spawned  int          `json:"spawned"`
	PeakLive int          `json:"peak_live"`
	Left     int          `json:"left"`     // processes that the keeper had to sweep or that outlived the host at the last checkpoint
	Findings []Finding    `json:"findings"` // errors first, then by law, kind, label
	Doubts   []Doubt      `json:"doubts"`
	Laws     []LawResult  `json:"laws"` // in the order of the laws' ids
	Soak     *Soak        `json:"soak,omitempty" jsonschema:"of leakbench run --for: growth an hour"`
	Watched  *attach.View `json:"watched,omitempty" jsonschema:"of leakbench attach: what is below the host"`
}

// Finding is one cause, however many processes show it.
type Finding struct {
	Law         string          `json:"law"`  // "L1"
	Kind        string          `json:"kind"` // "superseded"; see Kinds
	Label       string          `json:"label"`
	Severity    record.Severity `json:"severity"`
	Count       int             `json:"count"`
	Fingerprint string          `json:"fingerprint"`       // 12 hex digits, the same in each run with the same cause: no pids, times or counts
	Aliases     []string        `json:"aliases,omitempty"` // fingerprints that earlier versions gave it, in part or in whole
	Title       string          `json:"title"`             // "11 superseded servers of flaky are still running"
	Expected    string          `json:"expected"`
	Found       string          `json:"found"`
	Values      []string        `json:"values"` // one for each process or measurement
	Why         string          `json:"why"`    // from the evidence of this run
	Fix         string          `json:"fix"`
	Reports     []string        `json:"reports"` // "owner/repository#number": public threads that tell of the same

	Rows       []*breach.Row     `json:"-"`          // each value in parts; nil for one that is about no process
	Checkpoint string            `json:"checkpoint"` // where it was first seen
	Servers    []string          `json:"servers"`    // "flaky#2"
	Evidence   []record.Evidence `json:"-"`
	At         []int64           `json:"-"` // event times (ns) to mark on a timeline
	// Firm says of a kind by the clock that the run's processes did not wait for processors long enough to make it.
	Firm bool `json:"-"`

	cause record.Cause // see PrintOf
}

// IsError says that the finding makes a run a leak: anything but a warning.
func (f *Finding) IsError() bool { return f.Severity != record.SeverityWarning }

// Doubt is a reason why the run may not be called clean.
type Doubt = record.Doubt

// LawStatus is how a law fared in a run.
type LawStatus string

// The statuses.
const (
	LawKept      LawStatus = "kept"
	LawBroken    LawStatus = "broken"
	LawNotJudged LawStatus = "not judged" // Reason says why
)

// LawResult is one row of the laws' table.
type LawResult struct {
	Law      string    `json:"law"`
	Name     string    `json:"name"`
	Status   LawStatus `json:"status"`
	Expected string    `json:"expected"`
	Found    string    `json:"found"`
	Values   []string  `json:"values"`
	Reason   string    `json:"reason" jsonschema:"why it was not judged"`
}

// Judged is a run with its verdict: what the reporters render.
type Judged struct {
	Run     *record.Run
	History *history.History // the fold of the run, made once for its verdict
	Verdict Verdict
	Dir     string // where the run is kept, or ""
	Page    string // where its HTML report is, or ""
	HostLog string // the end of what the host and its servers wrote to stderr, or ""
}

// NewJudged judges a run that is kept in dir, "" for nowhere.
func NewJudged(run *record.Run, dir string) Judged {
	v, h := judge(run)
	return Judged{Run: run, History: h, Verdict: v, Dir: dir}
}
