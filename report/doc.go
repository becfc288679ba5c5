// Package report renders judged runs: as text for a terminal or a CI log, as
// one JSON object for programs, and as one HTML page for people.
//
// Each renderer is a function of its input alone: the same runs give the same
// bytes. Whatever another process wrote (names, messages, arguments) is
// hostile here: it is capped, and what could steer a terminal, a CI log or a
// browser is made visible instead of obeyed.
package report
