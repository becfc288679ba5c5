package verdict

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/judge/attach"
	"github.com/leakbench/leakbench/internal/law"
)

// TestAShortWatchDoesNotKeepHandlesFlat: whether the host's descriptors grow takes a trend to tell.
func TestAShortWatchDoesNotKeepHandlesFlat(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.open("s1", "flaky")
	f := open(p.done())
	for short, want := range map[bool]LawStatus{true: LawNotJudged, false: LawKept} {
		assert.Equal(t, want, f.attachedLaw(&rule{Law: law.Of("L5")}, &attach.View{TooShort: short}).Status, "%v", short)
	}
}
