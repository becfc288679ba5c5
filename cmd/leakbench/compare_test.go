package main

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
)

// A leak that is not new is no answer to what could not be seen besides.
func TestComparisonOfADoubtfulLeak(t *testing.T) {
	t.Parallel()
	j := verdict.Judged{Verdict: verdict.Verdict{Outcome: verdict.Leak}}
	code, _ := exitOfComparison(&compare.Result{}, []verdict.Judged{j}, true)
	assert.Equal(t, exitClean, code)
	j.Verdict.Doubts = []record.Doubt{{Code: "x", Text: "the host was gone"}}
	code, _ = exitOfComparison(&compare.Result{}, []verdict.Judged{j}, true)
	assert.Equal(t, exitInconclusive, code)
}
