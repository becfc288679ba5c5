// Package judge2 is a second, naive judge for tests of the whole bench. It has a second opinion on one question, whether something was left,
// and shares no witness with the bench. It reads /proc, which is on Linux alone.
package judge2
