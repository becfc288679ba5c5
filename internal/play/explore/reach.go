package explore

import (
	"cmp"
	"slices"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/observe/keeper"
	"github.com/leakbench/leakbench/internal/play/explore/grammar"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject"
	"github.com/leakbench/leakbench/internal/subject/fit"
)

// reachOf is what can be asked of a host, as far as it is known before it starts.
func reachOf(h subject.Spec) grammar.Reach {
	a := fit.AbilityOf(h)
	r := grammar.Reach{
		Cannot: map[record.Op]string{}, One: a.One,
		Loose: h.Kind == record.KindGateway, Alone: a.ByItself || a.OwnCalls, Recycles: keeper.TryPlace(record.PlaceInit) == nil,
	}
	for op, why := range a.Cannot {
		r.Cannot[op] = why
	}
	if !h.Kind.Driven() {
		r.Cannot[record.OpShare] = "only a driver learns which sessions share an entry"
	}
	return r
}

// tell adds what the host itself has said in its hello.
func tell(r *grammar.Reach, h subject.Spec, hello record.Hello) {
	if !h.Kind.Driven() {
		return
	}
	for _, op := range driver.Ops {
		if !slices.Contains(hello.Ops, op) && r.Can(record.Op(op)) {
			r.Cannot[record.Op(op)] = cmp.Or(hello.NotApplicable[op], "the driver does not offer it")
		}
	}
}

// first is the scenario of the first run: the least that a host can be asked.
func first(r grammar.Reach) string {
	const head = "name: first\ntitle: The least that a host can be asked\nservers:\n  alpha:\n" +
		"limits: {settle: 1.5s, confirm: 1.5s, close: 2s, stop: 4s}\nsteps:\n"
	switch {
	case r.Can(record.OpOpen):
		return head + "  - {open: alpha-1, server: alpha}\n  - {call: alpha-1}\n  - {close: alpha-1}\n"
	case r.Can(record.OpTick):
		return head + "  - tick: {jobs: [{server: alpha}]}\n"
	}
	return head + "  - {checkpoint: up}\n"
}
