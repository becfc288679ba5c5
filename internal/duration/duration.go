// Package duration is the one way to write a time: in a file as Go writes it ("1.5s"), for a person with a blank ("1.5 s").
package duration

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Duration is a time.Duration that JSON and YAML hold as text ("1.5s"). In a message it is as Text writes it.
type Duration time.Duration

// D returns d as the standard library's type.
func (d Duration) D() time.Duration { return time.Duration(d) }

func (d Duration) String() string { return Text(d) }

// MarshalText implements encoding.TextMarshaler.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.D().String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil {
		return err
	}
	*d = Duration(v)
	return nil
}

// Text is a length of time, in nanoseconds, as a person reads it: in three digits, with a blank before the unit
// ("1.5 s", "300 ms", "6 m 43 s", "8 h 5 m").
func Text[D ~int64](length D) string {
	if length < 0 && length > math.MinInt64 {
		return "-" + Text(-length)
	}
	d := time.Duration(length)
	if d >= 100*time.Second {
		return long(d)
	}
	step := time.Nanosecond
	for d/step >= 1000 {
		step *= 10
	}
	d = d.Round(step)
	switch {
	case d == 0:
		return "0 s"
	case d < time.Microsecond:
		return fmt.Sprintf("%d ns", d.Nanoseconds())
	case d < time.Millisecond:
		return digits(d, time.Microsecond) + " µs"
	case d < time.Second:
		return digits(d, time.Millisecond) + " ms"
	}
	return digits(d, time.Second) + " s"
}

// long is a time of minutes and seconds, or of hours and minutes.
func long(d time.Duration) string {
	n, big, small := int(d.Round(time.Second)/time.Second), "m", "s"
	if n >= 60*60 {
		n, big, small = int(d.Round(time.Minute)/time.Minute), "h", "m"
	}
	if n%60 == 0 {
		return fmt.Sprintf("%d %s", n/60, big)
	}
	return fmt.Sprintf("%d %s %d %s", n/60, big, n%60, small)
}

// digits is d in a unit, as many digits as it has.
func digits(d, unit time.Duration) string {
	s := strconv.FormatFloat(float64(d)/float64(unit), 'f', 3, 64)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}
