// Package report is the front door of the reports: the table of output formats.
// Its rooms, from the ground floor up:
//
//	words       text of others made harmless; numbers, times and sizes in words
//	model       a judged run as every report shows it
//	terminal    text for a terminal or a CI log
//	baseline    new, known, fixed: runs beside a list and beside earlier runs
//	formats     JSON, JUnit, Markdown, GitHub, SARIF, Perfetto, bench, Prometheus
//	page        one HTML page for people, with its script and style
//	scoreboard  hosts by scenarios
//
// Each renderer is a function of its input alone: the same runs give the same
// bytes. Whatever another process wrote (names, messages, arguments) is
// hostile here: it is capped, and what could steer a terminal, a CI log or a
// browser is made visible instead of obeyed.
package report
