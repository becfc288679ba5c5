package scenarios

import (
	"slices"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/yamlfile"
)

// list is a step that asks the server of a session for a list.
func (l *Step) list() yamlfile.Value {
	c := call{new(string), new(map[string]any), &l.Timeout, &l.Cancel, &l.Expect}
	return l.object(yamlfile.Name(&l.Session, "a session"),
		yamlfile.May("what", "which list (default tools)", yamlfile.Choice(&l.What, "a list", fakeserver.Lists...)),
		yamlfile.May("cancel", "cancel it once the server has received it", yamlfile.Yes(&l.Cancel)),
		timeout(&l.Timeout), expect(&l.Expect),
	).Then(func(m *yamlfile.Node) {
		if l.What == fakeserver.Lists[0] {
			l.What = "" // the default
		}
		c.cutOff(m, "a", "list")
	})
}

// Listed is what a list step asks for.
func (s *Step) Listed() string {
	if s.What == "" {
		return fakeserver.Lists[0]
	}
	return s.What
}

// Unlisted says that the scenario relies on lists, and that the host was not asked for any: it has to ask by itself.
func (s *Scenario) Unlisted() bool {
	faulty := slices.ContainsFunc(s.Servers, func(v Server) bool {
		return slices.ContainsFunc(v.Script.Faults, func(f fakeserver.Fault) bool { return isList(f.On) })
	})
	changed := func(step Step) bool { return step.Op == record.OpBreak && step.With.Do == "list-changed" }
	return s.Omitted.Lists > 0 && (faulty || anyStep(s.Steps, changed))
}

// isList says that a moment is that of a list.
func isList(on string) bool { return on == "list" || on == "list-resources" || on == "list-prompts" }

// isOptionalList says that a list which can't be asked for is no loss: the host may ask for it by itself.
func isOptionalList(s Step) bool { return s.Op == record.OpList && !s.Defining }
