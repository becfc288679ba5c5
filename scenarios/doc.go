// Package scenarios holds the scenarios: the built-in ones, which are embedded,
// and the reader of scenario files, which says of everything that is wrong
// with a file where it stands. It does not know how a scenario is played or
// judged; what must have happened for a verdict to mean anything is its Plan.
// docs/scenario-file.md describes the format.
package scenarios
