package hostinit

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/mattn/go-shellwords"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject/host"
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
}

// Interview asks.
type Interview struct {
	In    io.Reader
	Out   io.Writer
	Again bool // ask again after a wrong answer: somebody sits there
	Name  string
	Found []Config
}

// maxTries is how often a question is asked.
const maxTries = 5

// asking asks nothing more once an answer was wrong for good.
type asking struct {
	Interview
	in  *bufio.Reader
	err error
}

// Ask asks what can't be known.
func (i Interview) Ask() (Answers, error) {
	q := asking{Interview: i, in: bufio.NewReader(i.In)}
	var a Answers
	a.Name = q.one("What is the host called?", i.Name, isName)
	q.say("\nIn the command {{server}} stands for the fake server's command line: several arguments, or, in quotes, one\n" +
		"text for a shell. {{config}} stands for the path of a configuration file, {{port}} for a free port.\n")
	q.one("Which command starts it?", "", a.command)
	a.Drive = q.one("How can the bench drive it: http, driver, oneshot or nothing?", likelyDrive(a.Command), oneOf("driver", "http", "oneshot", "nothing"))
	if a.Drive != "driver" && !mentions(a.Command, host.Placeholder) {
		q.format(&a)
	}
	if a.Drive == "http" {
		a.URL = q.one("At which URL does it serve MCP?", "http://127.0.0.1:{{port}}/mcp", isURL)
		a.Servers = q.one("For whom does it launch a server: per-session, per-request or shared?", string(record.PerSession),
			oneOf(string(record.PerSession), string(record.PerRequest), string(record.Shared)))
	}
	return a, q.err
}

func (q *asking) say(format string, args ...any) {
	if q.err == nil {
		fmt.Fprintf(q.Out, format, args...)
	}
}

// likelyDrive is what the command speaks for.
func likelyDrive(command []string) string {
	if mentions(command, "{{port}}") {
		return "http"
	}
	return "nothing"
}

func mentions(words []string, what string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, what) })
}

// asText keeps what quotes around {{server}} say, that it is one argument: in a
// host file that is an argument with something beside it.
var asText = strings.NewReplacer(`"`+host.Placeholder+`"`, `" `+host.Placeholder+`"`, `'`+host.Placeholder+`'`, `' `+host.Placeholder+`'`)

func (a *Answers) command(answer string) (err error) {
	if a.Command, err = shellwords.Parse(asText.Replace(answer)); err != nil {
		return fmt.Errorf("that is no command line: %w", err)
	}
	switch {
	case len(a.Command) == 0:
		return errors.New("that is no command")
	case strings.TrimSpace(a.Command[0]) == host.Placeholder:
		return errors.New(host.Placeholder + " can't be the command itself: the host is what starts the server")
	}
	return nil
}

func (q *asking) format(a *Answers) {
	usual := "mcp-json"
	if len(q.Found) > 0 {
		a.From, usual = &q.Found[0], q.Found[0].Format.Name
		q.say("\n%s has MCP servers, in the format %s.\n", a.From.Path, usual)
	}
	a.Format = q.one("In which format does it read of its servers ("+strings.Join(hostconfig.Names(), ", ")+")?", usual, oneOf(hostconfig.Names()...))
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
		answer = strings.TrimSpace(answer)
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

var nameForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

func isName(s string) error {
	if !nameForm.MatchString(s) || len(s) > 40 {
		return fmt.Errorf("%q is no name: small letters, digits and single hyphens, at most 40 characters", s)
	}
	return nil
}

func isURL(s string) error {
	if !strings.HasPrefix(s, "http://") && !strings.HasPrefix(s, "https://") {
		return fmt.Errorf("%q is no URL: it begins with http:// or https://", s)
	}
	return nil
}

func oneOf(allowed ...string) func(string) error {
	return func(s string) error {
		if slices.Contains(allowed, s) {
			return nil
		}
		if hint := text.DidYouMean(s, allowed); hint != "" {
			return fmt.Errorf("%q is none of these; %s", s, hint)
		}
		return fmt.Errorf("%q is none of %s", s, strings.Join(allowed, ", "))
	}
}
