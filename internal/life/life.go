// Package life folds the events of a run into the lives of its servers and
// sessions: who was born when, what it saw, and when it died. It is a pure
// function of the events, shared by the runner (is it quiet yet?), the verdict
// and the reports, so that the three can't disagree on who was alive.
package life
