package prose

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

func TestTextHelpers(t *testing.T) {
	t.Parallel()
	for ns, want := range map[int64]string{
		-5: "0 s", 0: "0 s", 1234: "1.23 µs", int64(150 * time.Microsecond): "150 µs", int64(58 * time.Second): "58 s",
		1234567890: "1.23 s", int64(90 * time.Second): "90 s", int64(12345 * time.Second): "3 h 26 m",
	} {
		assert.Equal(t, want, Span(ns))
	}
	assert.Equal(t, "2 processes", text.Count(2, "process"))
	assert.Equal(t, "3 launches", text.Count(3, "launch"))
	assert.Equal(t, "1 launch", text.Count(1, "launch"))
	assert.Equal(t, "a?b", Plain("a\x1bb"))
	assert.LessOrEqual(t, len([]rune(Plain(string(make([]byte, 4000))))), maxPlain+1)
	assert.Equal(t, "a, b and c", List([]string{"a", "b", "c"}))
	assert.Equal(t, "a, b, c and 3 more", List([]string{"a", "b", "c", "d", "e", "f"}))
}

func TestSentences(t *testing.T) {
	t.Parallel()
	assert.Empty(t, Sentence("", ""))
	assert.Equal(t, "a; b.", Sentence("a", "", "b"))
	assert.Equal(t, "A. B.", Paragraph("A.", "", "B."))
	assert.Empty(t, Capital(""))
	assert.Equal(t, `"a\x1b"`, Quote("a\x1b"))
	assert.Equal(t, "1.5 MiB", Mebibytes(3<<19))
}

func TestSurvivor(t *testing.T) {
	t.Parallel()
	s := &history.Server{ID: "flaky#1", Birth: record.Birth{Identity: record.Identity{PID: 5}}, Times: history.Times{EOF: history.Never}}
	says, like := Survivor(s, nil, 10, Known{Signals: true})
	assert.Equal(t, "flaky#1 (pid 5) could not be examined; it never read stdin EOF; no signal reached it.", says)
	s.ID, s.Birth.PID = "flaky#2", 6
	_, same := Survivor(s, nil, 10, Known{Signals: true})
	assert.Equal(t, like, same, "of two that differ in their names alone the same is true")
	e := &record.Evidence{Process: record.Process{State: record.StateRunning}, Descriptors: []record.Descriptor{{Known: true, Target: "pipe:[1]"}}}
	says, _ = Survivor(s, e, 10, Known{Signals: true})
	assert.Contains(t, says, "is running on a CPU (state R); nobody holds the other end of its stdin any more")
	e.Descriptors[0].Target = "/run/requests"
	says, _ = Survivor(s, e, 10, Known{Signals: true})
	assert.Contains(t, says, "its stdin is /run/requests; leakbench could not see who else has that open", "a named pipe, or a file")
	reads := &record.Evidence{Process: record.Process{State: record.StateSleeping, Comm: "cat"}, Syscall: "read(0)"}
	says, _ = Survivor(s, reads, 10, Known{Signals: true})
	assert.Contains(t, says, "is blocked in read(0), waiting for its next request")
	busy, busyLike := Survivor(s, reads, 10, Known{Signals: true, Busy: true})
	assert.Contains(t, busy, "kept a CPU busy, although it was not on one when it was examined (state S)")
	assert.NotContains(t, busy, "read(0)", "it does not wait there")
	reads.State = record.StateRunning
	_, running := Survivor(s, reads, 10, Known{Signals: true, Busy: true})
	assert.Equal(t, running, busyLike, "of two that are busy the same is true, whatever they do at the moment")
	reads.State = record.StateSleeping
	says, _ = Survivor(nil, reads, 10, Known{Signals: true})
	assert.Contains(t, says, "cat (pid 0) is blocked in read(0), waiting for input", "it is no server, and gets no requests")
}
