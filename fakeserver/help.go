package fakeserver

import (
	"fmt"
	"io"
	"strings"
)

const helpHead = `An MCP server over stdio that is correct until its script says otherwise.

Usage:
  leakbench fakeserver [flags]

The bench puts it into a host's configuration, with --ledger. Without --ledger it runs
by hand: it takes its script from the flags and writes to stderr, one JSON object a
line, what it would tell the bench.

  --era ERA          legacy (initialize; default), legacy-mute (ignores server/discover),
                     modern (server/discover, no initialize), dual
  --fault FAULT      what to do wrong: %s; may be given more than once
  --script FILE      a script as JSON: {"era":"legacy","faults":[{"on":"call","do":"exit"}]}
  --launch N         which launch this is (default 1)
  --seed N           what probability=P goes by, with label and launch
  --label LABEL      the name it goes by (default fake)
  --session NAME     the session it is launched for
  --lifetime TIME    the time after which it ends whatever happens (default 10m)
  --ledger PATH      the bench's birth socket, with --run and --label
  --run TOKEN        the run it belongs to

Tools: echo {"text": T}, sleep {"ms": N}, whoami {}.

Moments (on):
`

const helpTail = `
launch=N is the Nth launch of the label in a run; every=N each launch divisible by N;
probability=P leaves it to the seed; after=N lets the moment pass N times first.

Examples:
  leakbench fakeserver --fault on=initialize,do=reject,launch=2 --launch 2
  leakbench fakeserver --era modern --fault on=eof,do=ignore --fault on=term,do=ignore
  echo '{"jsonrpc":"2.0","id":1,"method":"ping"}' | leakbench fakeserver

Exit status: 0 after the end of stdin or SIGTERM; 2 bad flags; 71 the bench can't be
reached or refused this server; 72 the bench is gone; 73 the lifetime is over; else
what the script says.
`

func writeHelp(w io.Writer) {
	var b strings.Builder
	fmt.Fprintf(&b, helpHead, faultForm())
	writeDocs(&b, Moments)
	b.WriteString("\nActions (do):\n")
	writeDocs(&b, Actions)
	b.WriteString(helpTail)
	_, _ = io.WriteString(w, b.String())
}

// faultForm is what --fault takes, in lines that fit.
func faultForm() string {
	const indent, width = 21, 92
	form, column := "", indent+len("what to do wrong: ")
	for i, field := range Fields {
		part := fmt.Sprintf(",%s=%s", field.Name, field.Unit)
		switch {
		case i == 0:
			part = part[1:]
		case i == 1: // on and do go into every fault
		case field.Excludes != "":
			part = "[" + part + "|"
		case Fields[i-1].Excludes == field.Name:
			part += "]"
		default:
			part = "[" + part + "]"
		}
		if column += len(part); column > width {
			form += "\n" + strings.Repeat(" ", indent)
			column = indent + len(part)
		}
		form += part
	}
	return form
}

func writeDocs(b *strings.Builder, docs []Doc) {
	for _, d := range docs {
		fmt.Fprintf(b, "  %-14s %s\n  %-14s with %s\n", d.Name, d.Text, "", list(d.With))
		for _, way := range d.As {
			fmt.Fprintf(b, "  %-14s as %s: %s\n", "", way.Name, way.Text)
		}
	}
}
