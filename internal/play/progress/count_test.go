package progress

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCountSaysWhatIsLeft(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c := Count(&out, Plain, 4)
	begun := c.begun
	for i, after := range []time.Duration{10 * time.Second, 100 * time.Second, 110 * time.Second, 120 * time.Second} {
		c.now = func() time.Time { return begun.Add(after) }
		c.Done("cell \x1b[31m", 3-i)
	}
	c.Stop()
	assert.Equal(t, "[1/4] cell ?[31m, about 30 s left\n[2/4] cell ?[31m, about 2 m left\n[3/4] cell ?[31m, about 37 s left\n[4/4] cell ?[31m\n", out.String())
}

// The time that is left runs down until the next one is done: it does not grow with the time that has passed.
func TestCountRunsDown(t *testing.T) {
	t.Parallel()
	c := Count(io.Discard, Plain, 3)
	after := 10 * time.Second
	c.now = func() time.Time { return c.begun.Add(after) }
	c.Ended("one", false, 2)
	for at, want := range map[time.Duration]string{10 * time.Second: "about 20 s left", 14 * time.Second: "about 16 s left", 31 * time.Second: ""} {
		after = at
		assert.Equal(t, want, c.remaining(""), at)
	}
}

func TestCountShowsABarAndClearsIt(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	tooLong := time.AfterFunc(20*time.Second, func() { _ = r.CloseWithError(errors.New("the bar is not shown")) })
	defer tooLong.Stop()
	c := Count(w, Live, 2)
	c.mu.Lock()
	c.begun = c.begun.Add(-time.Minute)
	c.mu.Unlock()
	c.Done("storm on naive", 1)
	var text strings.Builder
	buf := make([]byte, 4096)
	for !strings.Contains(text.String(), "█░") || !strings.Contains(text.String(), "1/2  about ") {
		n, err := r.Read(buf)
		require.NoError(t, err)
		text.Write(buf[:n])
	}
	go func() { c.Stop(); _ = w.Close() }()
	rest, err := io.ReadAll(r)
	require.NoError(t, err)
	assert.True(t, strings.HasSuffix(string(rest), "\r\x1b[K"), "%q", rest)
}
