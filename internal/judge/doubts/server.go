package doubts

import (
	"github.com/leakbench/leakbench/internal/judge/facts"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/record"
)

// OfServer are the reasons why the run of a check, whose subject is a server, may not be called clean.
func OfServer(run *facts.Facts, told Told) []record.Doubt {
	f := begin(run, told)
	if cut := f.doubtEnd(); !cut {
		f.doubtPurpose()
		f.doubtStarved()
		f.doubtStretched()
	}
	f.doubtRecorded()
	return f.found
}

// doubtStretched says which checkpoints came to rest only because the bench waited longer than the limits allow.
func (f *search) doubtStretched() {
	for _, cp := range f.Checkpoints {
		if cp.Quiet && cp.Stretched > 0 {
			f.doubt(record.DoubtStretched,
				"checkpoint %q was as expected only after %s, with %s allowed. The wait was stretched because the machine was starved: "+
					"leakbench waited for a processor %d %% of the time in which it wanted one",
				prose.Plain(cp.Name), prose.Span(cp.Waited), prose.Span(f.Header.Limits.Settle), int(100*cp.Starved))
		}
	}
}
