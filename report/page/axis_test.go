package page

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/report/model"
)

const ms = int64(1e6)

var (
	colour = regexp.MustCompile(`--([a-z-]+): (#[0-9a-f]{6})\b`)
	themes = regexp.MustCompile(`(?s):root \{(.*?)\}`)
)

func TestAxisShortensWhatIsIdle(t *testing.T) {
	t.Parallel()
	var ts []int64
	for i := range int64(100) {
		ts = append(ts, i*10*ms)
	}
	ts = append(ts, 61_000*ms)
	a := newAxis(ts, 61_100*ms)
	require.Len(t, a.idle, 1)
	assert.Equal(t, 990*ms, a.idle[0].from)
	assert.Greater(t, a.x(990*ms), 60.0, "the busy second has most of the axis")
	last := -1.0
	for at := int64(0); at <= 61_100*ms; at += 7 * ms {
		x := a.x(at)
		require.GreaterOrEqual(t, x, last, "time runs to the right")
		require.LessOrEqual(t, x, axisWidth)
		last = x
	}
	assert.InDelta(t, axisWidth, a.x(61_100*ms), 1e-9)
}

func TestAxisLeavesEvenTimeAlone(t *testing.T) {
	t.Parallel()
	a := newAxis([]int64{1000 * ms, 2000 * ms, 3000 * ms}, 4000*ms)
	assert.Empty(t, a.idle)
	assert.InDelta(t, axisWidth/2, a.x(2000*ms), 1e-9)
	assert.NotPanics(t, func() { newAxis(nil, 0).ticks() })
}

func TestTicksDoNotCollide(t *testing.T) {
	t.Parallel()
	for _, end := range []int64{1, 900, 3 * ms, 740 * ms, 61_100 * ms, 86_400_000 * ms} {
		ticks := newAxis([]int64{end / 3, end / 2}, end).ticks()
		require.NotEmpty(t, ticks)
		for i := 1; i < len(ticks); i++ {
			assert.GreaterOrEqual(t, ticks[i].at-ticks[i-1].at, tickRoom)
		}
	}
}

func TestAChartNeverLosesItsPeak(t *testing.T) {
	t.Parallel()
	a := newAxis(nil, 1e9)
	var levels []model.Level
	for i := range int64(50_000) {
		levels = append(levels, model.Level{T: i * 20_000, N: i % 3})
	}
	levels[31_234].N = 99
	kept := extremes(a, levels)
	assert.Less(t, len(kept), 4*chartCells)
	assert.Equal(t, int64(99), model.Highest(kept))
}

// The contrast of the page's colours is what WCAG 2.2 asks for (AA): 4.5 for
// text, 3 for what must be told apart in a picture.
func TestContrast(t *testing.T) {
	t.Parallel()
	blocks := themes.FindAllStringSubmatch(pageCSS, 2)
	require.Len(t, blocks, 2, "light and dark")
	for i, block := range blocks {
		c := map[string]string{}
		for _, m := range colour.FindAllStringSubmatch(block[1], -1) {
			c[m[1]] = m[2]
		}
		for _, pair := range []string{
			"ink paper", "ink panel", "soft paper", "soft panel", "bad paper", "bad panel", "bad bad-bg", "warn paper", "warn warn-bg", "ink warn-bg",
			"good paper", "good panel", "good good-bg", "link paper", "ink step", "ink endop", "paper bad-fill", "soft bad-bg",
		} {
			text, ground, _ := strings.Cut(pair, " ")
			assert.GreaterOrEqual(t, contrast(t, c[text], c[ground]), 4.5, "theme %d: %s", i, pair)
		}
		for _, pair := range []string{"bad-fill paper", "warn-fill paper", "work paper", "leave paper", "focus paper"} {
			mark, ground, _ := strings.Cut(pair, " ")
			assert.GreaterOrEqual(t, contrast(t, c[mark], c[ground]), 3.0, "theme %d: %s", i, pair)
		}
		assert.GreaterOrEqual(t, contrast(t, "#15171b", c["warn-fill"]), 4.5, "theme %d: a fault's label", i)
	}
}

func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	require.Len(t, hex, 7)
	n, err := strconv.ParseUint(hex[1:], 16, 32)
	require.NoError(t, err)
	channel := func(v uint64) float64 {
		f := float64(v&0xff) / 255
		if f <= 0.04045 {
			return f / 12.92
		}
		return math.Pow((f+0.055)/1.055, 2.4)
	}
	return 0.2126*channel(n>>16) + 0.7152*channel(n>>8) + 0.0722*channel(n)
}
