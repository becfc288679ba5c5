// Package fit says how a host can be played a scenario: what of it can be asked, within which limits.
package fit

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject"
	"github.com/leakbench/leakbench/scenarios"
)

// NotApplicable is the error of a scenario that a host can't be played: what it is about can't be asked of it.
type NotApplicable struct{ Why string }

func (n *NotApplicable) Error() string { return "not applicable: " + n.Why }

// Cast is how a host can play a scenario, as far as it is known before it starts: the parts, each a run of its own,
// or why it can't be played.
func Cast(s *scenarios.Scenario, h subject.Spec) (parts []*scenarios.Scenario, why string) {
	if why := h.Scenarios[s.Name].NotApplicable; why != "" {
		return nil, why
	}
	return s.Cast(AbilityOf(h))
}

// AbilityOf is what can be asked of a host, by its kind and its file.
func AbilityOf(h subject.Spec) scenarios.Ability {
	a := scenarios.Ability{
		Cannot: map[record.Op]string{}, One: !h.HoldsAll(),
		ByItself: h.Kind == record.KindCommand, Unknown: h.SessionsUnknown(), OwnCalls: h.Kind == record.KindOneshot,
	}
	cannot := func(why string, ops ...record.Op) {
		for _, op := range ops {
			a.Cannot[op] = why
		}
	}
	switch h.Kind {
	case record.KindCommand:
		cannot("a command is only started, watched and stopped; a driver can do more",
			record.OpOpen, record.OpCall, record.OpList, record.OpClose, record.OpForget,
			record.OpReload, record.OpTick, record.OpAwait, record.OpRecycle)
	case record.KindOneshot:
		cannot("a oneshot host is a command for each job: it has no session that lasts",
			record.OpOpen, record.OpCall, record.OpList, record.OpClose, record.OpForget,
			record.OpReload, record.OpAwait, record.OpRecycle, record.OpBreak)
		cannot("its commands end with their jobs, and nothing else of it could be ended", record.OpRestart, record.OpTerm, record.OpKill)
	case record.KindGateway:
		cannot("its clients can't reload it", record.OpReload)
		cannot("what it lists to its clients is its own business: it need not ask its servers", record.OpList)
		if h.HTTP.Servers == record.PerRequest {
			cannot(NoneToBreak, record.OpBreak)
		}
		if h.HTTP.Servers != record.PerSession {
			cannot(nobodysServers, record.OpRecycle)
		}
	}
	for op, why := range h.NotApplicable {
		a.Cannot[record.Op(op)] = why
	}
	return a
}

// NoneToBreak says why a server of a host with a server for each request can't be broken.
const NoneToBreak = "no server is alive between two requests: there is none to break"

const nobodysServers = "its servers belong to no single session"

// perRequest are the steps that ask for the server of an open session, which a host with a server for each request has not.
var perRequest = map[record.Op]string{
	record.OpBreak: NoneToBreak, record.OpRecycle: nobodysServers,
	record.OpReload: "no server is alive between two requests: there is none to replace",
}

// Unaskable says why the scenario can't be played with a host that has said itself what it can be asked.
func Unaskable(s *scenarios.Scenario, hello record.Hello) error {
	for _, op := range s.Ops() {
		asked := slices.Contains(driver.Ops, string(op)) && op != record.OpStop
		if !asked || slices.Contains(hello.Ops, string(op)) {
			continue
		}
		return &NotApplicable{fmt.Sprintf("%s: %s", op, cmp.Or(hello.NotApplicable[string(op)], "the driver does not offer it"))}
	}
	if hello.PerRequest() {
		if _, why := s.Cast(scenarios.Ability{Cannot: perRequest}); why != "" {
			return &NotApplicable{why}
		}
	}
	return nil
}
