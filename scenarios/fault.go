package scenarios

import (
	"fmt"
	"math"
	"slices"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/yamlfile"
)

// onOrder is the moment of what a break step orders.
const onOrder = string(record.OnOrder)

// What the fake server says of a script and of an order. A test has it say the same in other words.
var (
	checkScript = fakeserver.Script.Check
	checkFault  = fakeserver.Fault.Check
)

// writtenFault is a fault of a script and where it stands.
type writtenFault struct {
	fakeserver.Fault
	at *yamlfile.Node
	ok bool // every value could be read: else there is nothing to check
}

func (f *writtenFault) value() yamlfile.Value {
	return yamlfile.Ref("fault", yamlfile.NewValue("", func(n *yamlfile.Node) {
		before := len(n.Problems)
		faultObject(&f.Fault).Read(n)
		f.at, f.ok = n, len(n.Problems) == before
	}, nil))
}

// faultObject is a fault of a script.
func faultObject(f *fakeserver.Fault) yamlfile.Value {
	return yamlfile.Object("a fault", append([]yamlfile.Key{
		yamlfile.Need("on", fakeserver.Fields[0].Text, yamlfile.Choice(&f.On, "a moment", fakeserver.Names(fakeserver.Moments)...)),
		yamlfile.Need("do", fakeserver.Fields[1].Text, yamlfile.Choice(&f.Do, "an action", fakeserver.Names(fakeserver.Actions)...)),
	}, keys(f, fieldsOfFaults())...)...)
}

// orderObject is an order with its values.
func orderObject(f *fakeserver.Fault) yamlfile.Value {
	do := yamlfile.Need("do", fakeserver.Fields[1].Text, orderedAction(f))
	return yamlfile.Object("with", append([]yamlfile.Key{do}, keys(f, fieldsOfOrders())...)...)
}

func orderedAction(f *fakeserver.Fault) yamlfile.Value {
	return yamlfile.Choice(&f.Do, "an action that can be ordered", actionsOnOrder()...)
}

// order is what a break step orders: an action, or a mapping of one.
func order(f *fakeserver.Fault) yamlfile.Value {
	f.On = onOrder
	return yamlfile.Ref("order", yamlfile.NewValue("", func(n *yamlfile.Node) {
		if n.Kind == yamlfile.KindMapping || n.Kind == yamlfile.KindNothing {
			before := len(n.Problems)
			orderObject(f).Read(n)
			if len(n.Problems) == before {
				place(checkFault(*f), n, nil)
			}
			return
		}
		if orderedAction(f).Read(n); f.Do != "" {
			if err := checkFault(*f).Err(); err != nil {
				n.Problem("%v; write it as with: {do: %s, ...}", err, f.Do)
			}
		}
	}, nil))
}

// fieldsOfFaults are the fields besides on and do.
func fieldsOfFaults() []fakeserver.Field { return fakeserver.Fields[2:] }

// fieldsOfOrders are those that say how something is done, not when.
func fieldsOfOrders() []fakeserver.Field {
	return slices.DeleteFunc(slices.Clone(fieldsOfFaults()), func(d fakeserver.Field) bool { return !d.Own })
}

func actionsOnOrder() []string {
	i := slices.IndexFunc(fakeserver.Moments, func(d fakeserver.Doc) bool { return d.Name == onOrder })
	return fakeserver.Moments[i].With
}

// keys are those of the fields. Which of them go together, and what their values may be, the check of the fault says.
func keys(f *fakeserver.Fault, fields []fakeserver.Field) []yamlfile.Key {
	var all []yamlfile.Key
	for _, d := range fields {
		v := fieldValue(f, d)
		if d.Without != "" { // 0 is how a Fault says "not given"; a file that says 0 means something
			least := "1 or more"
			if _, fraction := d.Of(f).(*float64); fraction {
				least = "more than 0"
			}
			v = v.Then(func(n *yamlfile.Node) {
				if n.Scalar == any(uint64(0)) || n.Scalar == any(0.0) {
					n.Problem("%s is %s; leave it out for %s", d.Name, least, d.Without)
				}
			})
		}
		all = append(all, yamlfile.May(d.Name, d.Text, v))
	}
	return all
}

func fieldValue(f *fakeserver.Fault, d fakeserver.Field) yamlfile.Value {
	switch into := d.Of(f).(type) {
	case *int:
		most := d.Max
		if most == 0 {
			most = math.MaxInt32
		}
		return yamlfile.AnyWhole(into, d.What, d.Min, most)
	case *float64:
		return yamlfile.Fraction(into, d.What)
	case *fakeserver.Duration:
		return yamlfile.Time(into)
	case *string:
		choice := func() yamlfile.Value { return yamlfile.Choice(into, d.What, words(f, d)...) }
		return yamlfile.NewValue(d.What, func(n *yamlfile.Node) { choice().Read(n) }, func() *yamlfile.Schema { return choice().Describe() })
	}
	panic("a field of no known type: " + d.Name)
}

// words are what a field may say. The ways are those of the action; of one that has none, or is unknown, all there
// are: the fault's check says then what is wrong.
func words(f *fakeserver.Fault, d fakeserver.Field) []string {
	if d.Words != nil {
		return d.Words
	}
	var all []string
	for _, action := range fakeserver.Actions {
		if action.Name == f.Do && len(action.As) > 0 {
			return fakeserver.Names(action.As)
		}
		all = append(all, fakeserver.Names(action.As)...)
	}
	return all
}

// place notes problems with a script, or with a fault that stands alone, where they belong.
func place(problems fakeserver.Problems, n *yamlfile.Node, faults []writtenFault) {
	for _, p := range problems {
		at, other := n, ""
		if p.Fault >= 0 {
			at = faults[p.Fault].at
		}
		if p.Other >= 0 {
			other = fmt.Sprintf("the fault on line %d", faults[p.Other].at.Line)
		}
		at.Key(p.Field).Problem("%s", p.Says(other))
	}
}
