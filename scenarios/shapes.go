package scenarios

import (
	"github.com/leakbench/leakbench/internal/yamlfile"
)

// stepShape is what the reader asks of a step.
func stepShape(op string) *yamlfile.Shape {
	s := &yamlfile.Shape{}
	n := yamlfile.Probe(s)
	n.Kind = yamlfile.KindMapping
	name := &yamlfile.Node{Collector: n.Collector, Kind: yamlfile.KindText, Scalar: op, Source: op, Line: 1, Column: 1}
	n.Pairs = []yamlfile.Pair{{Key: name, Value: yamlfile.Probe(&yamlfile.Shape{})}}
	r := &reader{labels: []string{yamlfile.AnyName}}
	r.step(n, 0)
	s.Needs(op)
	return s
}

// scenarioShape is what the reader asks of a file.
func scenarioShape() *yamlfile.Shape {
	return yamlfile.ShapeOf(func(n *yamlfile.Node) { readScenario(n) })
}

func faultShape() *yamlfile.Shape { return yamlfile.ShapeOf(func(n *yamlfile.Node) { readFault(n) }) }

func orderShape() *yamlfile.Shape { return yamlfile.ShapeOf(func(n *yamlfile.Node) { readOrder(n) }) }
