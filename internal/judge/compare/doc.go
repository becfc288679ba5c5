// Package compare holds two sets of judged runs against each other: which
// findings are new, known or fixed, which counts differ, and which times and
// sizes have changed by more than chance and a tolerance allow. It is a pure
// function of the runs.
//
// The sample is the run: what a run measured several times (each close, each
// first answer) is one value, the median of them, since the closes of one run
// are not independent of each other.
package compare
