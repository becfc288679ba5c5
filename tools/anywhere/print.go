package main

import (
	"fmt"
	"strings"
	"time"
)

// The results of a row.
const (
	passed = "ok"
	failed = "FAIL"
	cant   = "can't"
)

// width is the length of the longest name of a row.
const width = len("read-only-home")

// outcome is the result of a row, as it is printed.
type outcome struct {
	row
	played
	word     string
	note     string
	failures []string // the failed tests
	log      string   // path of the full log of a failed row
}

func (t *tool) printHead() {
	if t.markdown {
		fmt.Fprintf(t.out, "| row | surroundings | result | time | user | system |\n|---|---|---|---|---|---|\n")
		return
	}
	fmt.Fprintf(t.out, "%-5s  %-*s  %9s  %9s  %9s\n", "", width, "row", "time", "user", "system")
}

func (t *tool) print(o outcome) {
	if t.markdown {
		t.printMarkdown(o)
		return
	}
	var times [3]string
	if o.word != cant {
		times = [...]string{seconds(o.Wall), seconds(o.user), seconds(o.system)}
	}
	var rest []string
	if o.note != "" {
		rest = append(rest, o.note)
	}
	if len(o.failures) > 0 {
		rest = append(rest, strings.Join(o.failures, "; "), "see "+o.log)
	}
	line := fmt.Sprintf("%-5s  %-*s  %9s  %9s  %9s  %s", o.word, width, o.name, times[0], times[1], times[2], strings.Join(rest, " | "))
	fmt.Fprintln(t.out, strings.TrimRight(line, " "))
}

func (t *tool) printMarkdown(o outcome) {
	cell := strings.NewReplacer("|", `\|`, "\n", " ").Replace
	what, result := o.gives, o.word
	if o.word == cant {
		fmt.Fprintf(t.out, "| `%s` | %s | can't: %s | | | |\n", o.name, cell(what), cell(o.note))
		return
	}
	if o.note != "" {
		what += " (" + o.note + ")"
	}
	if len(o.failures) > 0 {
		result += ": " + strings.Join(o.failures, "; ")
	}
	fmt.Fprintf(t.out, "| `%s` | %s | %s | %s | %s | %s |\n",
		o.name, cell(what), cell(result), seconds(o.Wall), seconds(o.user), seconds(o.system))
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
