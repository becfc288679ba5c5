package hostinit

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject"
	"github.com/leakbench/leakbench/internal/subject/hostconfig"
	"github.com/leakbench/leakbench/internal/text"
)

// Answers are what a host file is written from.
type Answers struct {
	Name    string
	Command []string
	Format  string  // "" where the command names the server
	From    *Config // that the format was taken from
	Drive   string  // "driver", "http", "oneshot", "nothing"
	URL     string
	Servers string
	// AtATime is how many servers of one entry it has at a time, as it should. 0 is 1.
	AtATime int
}

// Interview asks.
type Interview struct {
	In    io.Reader
	Out   io.Writer
	Again bool // ask again after a wrong answer: somebody sits there
	Name  string
	Found []Config

	in *bufio.Reader // of In, for all questions
}

// How much is read of whoever answers, in bytes. A pipe may have no line at all.
const (
	maxAnswer  = 16 << 10
	maxAnswers = 1 << 20
)

// maxTries is how often a question is asked.
const maxTries = 5

// asking asks nothing more once an answer was wrong for good.
type asking struct {
	*Interview
	err error
}

// choice is an answer that can be chosen, and what follows from it.
type choice struct{ word, means string }

var (
	doings = []choice{
		{"serves", "it listens for MCP clients over HTTP. leakbench connects to it as its clients would"},
		{"runs", "it uses its servers by itself until it is stopped. leakbench breaks servers beneath it, and stops it"},
		{"exits", "it does one thing and ends. leakbench runs it several times side by side; nothing may be left of it"},
		{"driver", "it speaks the driver protocol of leakbench (docs/use/driver-protocol.md)"},
	}
	drives = map[string]string{"serves": "http", "runs": "nothing", "exits": "oneshot", "driver": "driver"}

	sharings = []choice{
		{string(record.PerSession), "each client has its own. It must be gone when that client has gone"},
		{string(record.Shared), "all clients have the same one. It must be gone when your program has ended"},
		{string(record.PerRequest), "each request has its own. It must be gone when the request was answered"},
	}
)

// Ask asks what can't be known: at most five questions.
func (i *Interview) Ask() (Answers, error) {
	i.in = bufio.NewReader(io.LimitReader(i.In, maxAnswers))
	q := asking{Interview: i}
	a := Answers{Name: i.Name, AtATime: 1}
	q.say("In the command that starts your program, write\n" +
		"  {{server}}  where it takes the command line of the MCP server that it launches: several arguments, or, in\n" +
		"              quotes, one text for a shell\n" +
		"  {{config}}  where it takes the path of a file that lists its MCP servers\n" +
		"  {{port}}    where it takes the port that it listens on\n")
	q.one("Which command starts it?", "", a.command)
	a.Drive = drives[q.choose("\nWhat does it do when it has started?", likelyDoing(a.Command), doings)]
	if a.Drive != "driver" && !mentions(a.Command, subject.Placeholder) {
		q.format(&a)
	}
	switch a.Drive {
	case "http":
		a.URL = q.one("At which URL do clients find it?", "http://127.0.0.1:{{port}}/mcp", isURL)
		a.Servers = q.choose("\nWho has a server process?", string(record.PerSession), sharings)
	case "nothing":
		q.one("\nHow many processes of one server does it run at a time, when all is well? More are a leak.", "1", a.atATime)
	}
	return a, q.err
}

// Yes asks one question more, after Ask; where nobody answers, the answer is yes.
func (i *Interview) Yes(question string) (bool, error) {
	q := asking{Interview: i}
	answer := q.one(question, "yes", func(answer string) error { return oneOf("yes", "y", "no", "n")(strings.ToLower(answer)) })
	return strings.HasPrefix(strings.ToLower(answer), "y"), q.err
}

func (a *Answers) atATime(answer string) (err error) {
	if a.AtATime, err = strconv.Atoi(answer); err != nil || a.AtATime < 1 || a.AtATime > 100 {
		return fmt.Errorf("%q is not a number from 1 to 100", answer)
	}
	return nil
}

// choose offers what may be answered, by its word or its number.
func (q *asking) choose(question, usual string, choices []choice) string {
	q.say("%s\n", question)
	words := lists.Map(choices, func(c choice) string { return c.word })
	for i, c := range choices {
		q.say("  %d  %-11s  %s\n", i+1, c.word, c.means)
	}
	named := func(answer string) string {
		if n, err := strconv.Atoi(answer); err == nil && n >= 1 && n <= len(words) {
			return words[n-1]
		}
		return answer
	}
	return named(q.one("Which?", usual, func(answer string) error { return oneOf(words...)(named(answer)) }))
}

func (q *asking) say(format string, args ...any) {
	if q.err == nil {
		fmt.Fprintf(q.Out, format, args...)
	}
}

// likelyDoing is what the command speaks for.
func likelyDoing(command []string) string {
	if mentions(command, "{{port}}") {
		return "serves"
	}
	return "runs"
}

func mentions(words []string, what string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, what) })
}

// asText keeps what quotes around {{server}} say, that it is one argument: in a
// host file that is an argument with something beside it.
var asText = strings.NewReplacer(
	`"`+subject.Placeholder+`"`, `" `+subject.Placeholder+`"`,
	`'`+subject.Placeholder+`'`, `' `+subject.Placeholder+`'`,
)

func (a *Answers) command(answer string) (err error) {
	if a.Command, err = words(asText.Replace(answer)); err != nil {
		return fmt.Errorf("that is not a command line: %w", err)
	}
	switch {
	case len(a.Command) == 0:
		return errors.New("that is not a command")
	case strings.TrimSpace(a.Command[0]) == subject.Placeholder:
		return errors.New(subject.Placeholder + " cannot be the command itself: the host starts the server")
	}
	return nil
}

func (q *asking) format(a *Answers) {
	usual := "mcp-json"
	if len(q.Found) > 0 {
		a.From, usual = &q.Found[0], q.Found[0].Format.Name
		q.say("\n%s has MCP servers, in the format %s.\n", a.From.Path, usual)
	}
	q.say("\nIn which format does it read its list of servers? mcp-json is {\"mcpServers\": {NAME: {command, args}}}.\n")
	a.Format = q.one("One of "+strings.Join(hostconfig.Names(), ", ")+":", usual, oneOf(hostconfig.Names()...))
	if a.From != nil && a.From.Format.Name != a.Format {
		a.From = nil
	}
}

// one asks until the answer is right, if somebody sits there.
func (q *asking) one(question, usual string, check func(string) error) string {
	for try := 1; q.err == nil; try++ {
		if usual != "" {
			fmt.Fprintf(q.Out, "%s [%s] ", question, usual)
		} else {
			fmt.Fprintf(q.Out, "%s ", question)
		}
		answer, err := q.in.ReadString('\n')
		answer = strings.TrimSpace(strings.TrimPrefix(answer, "\ufeff")) // PowerShell may begin a pipe with a byte order mark
		if len(answer) > maxAnswer {
			q.err = fmt.Errorf("%s the answer has more than %d bytes", question, maxAnswer)
			break
		}
		if !q.Again {
			fmt.Fprintln(q.Out, answer) // nobody's terminal has shown it
		}
		if answer == "" {
			answer = usual
		}
		if answer == "" && err != nil {
			q.err = fmt.Errorf("%w to: %s", ErrNoAnswer, question)
			break
		}
		wrong := check(answer)
		if wrong == nil {
			return answer
		}
		if !q.Again || err != nil || try == maxTries {
			q.err = fmt.Errorf("%s %w", question, wrong)
			break
		}
		fmt.Fprintln(q.Out, wrong)
	}
	return ""
}

func isURL(s string) error {
	if !strings.HasPrefix(s, "http://") && !strings.HasPrefix(s, "https://") {
		return fmt.Errorf("%q is not a URL: it must begin with http:// or https://", s)
	}
	return nil
}

func oneOf(allowed ...string) func(string) error {
	return func(s string) error {
		if slices.Contains(allowed, s) {
			return nil
		}
		if hint := text.DidYouMean(s, allowed); hint != "" {
			return fmt.Errorf("%q is not one of these; %s", s, hint)
		}
		return fmt.Errorf("%q is not one of %s", s, strings.Join(allowed, ", "))
	}
}
