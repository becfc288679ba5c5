package fit

import (
	"cmp"
	"maps"
	"slices"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/scenarios"
)

// WithoutLists leaves out the lists that a host cannot be asked for, as it has said itself. why is the reason where the scenario is
// about them.
func WithoutLists(s *scenarios.Scenario, hello record.Hello) (left *scenarios.Scenario, why string) {
	if slices.Contains(hello.Ops, driver.OpList) || !slices.Contains(s.Ops(), record.OpList) {
		return s, ""
	}
	a := s.Ability
	a.Cannot = maps.Clone(a.Cannot)
	if a.Cannot == nil {
		a.Cannot = map[record.Op]string{}
	}
	a.Cannot[record.OpList] = cmp.Or(hello.NotApplicable[driver.OpList], "the driver does not offer it")
	parts, why := s.Cast(a)
	if why != "" {
		return nil, why
	}
	return parts[0], ""
}
