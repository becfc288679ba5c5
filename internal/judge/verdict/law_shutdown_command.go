package verdict

import (
	"fmt"
	"strings"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/record"
)

const hungCommand = "hung-command"

// judgeCommand reports the command of a job that did not exit: what it waits for, and what is still there below it.
func (f *casefile) judgeCommand(s *history.Step) {
	if len(s.Keeps) == 0 {
		return
	}
	f.Blamed[s.N] = true
	command := &s.Keeps[0]
	says, like := prose.Waits(command)
	sentences := []string{fmt.Sprintf("The command: %s.", prose.Quote(strings.Join(command.Args, " "))), says}
	for i := range s.Keeps[1:] {
		e := &s.Keeps[1+i]
		word, alike := prose.Survivor(f.ServerOf(e.Identity), e, s.Ended)
		sentences, like = append(sentences, "Below it: "+word), like+alike
	}
	if len(s.Keeps) == 1 {
		sentences = append(sentences, "No process is left below it: it waits for itself, or for something that it does not launch.")
	}
	f.broken(&breach{
		law: "L8", kind: hungCommand, label: s.Label, cause: record.CauseOfStep(&s.Step), step: s, at: []int64{s.Begun, s.Ended}, like: like,
		evidence: command, narrative: prose.Paragraph(sentences...),
		value: fmt.Sprintf("pid %d: %s: still running after %s", command.PID, prose.Quote(strings.Join(command.Args, " ")), prose.Span(s.Limit)),
	})
}
