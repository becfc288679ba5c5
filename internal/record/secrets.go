package record

import (
	"encoding/json"

	"github.com/leakbench/leakbench/internal/redact"
)

// WithoutSecrets is the event as it may be written down. What a host, its driver, its servers and the system say is free text, and so it
// may hold a secret, whoever emits it. The names of sessions and the nonces of calls stay: the bench gives them, and the judge compares
// them. The arguments of processes are redacted where they are read, as arguments. Nothing that e points to
// changes.
func (e Event) WithoutSecrets() Event {
	clean(&e.Text)
	copied(&e.RPC, func(r *RPCInfo) {
		clean(&r.Method)
		clean(&r.Tool)
		r.ID = cleanJSON(r.ID)
	})
	copied(&e.Fault, func(f *Fault) { clean(&f.Detail) })
	copied(&e.Step, func(s *Step) { clean(&s.Error, &s.Answer, &s.Detail) })
	copied(&e.Hello, (*Hello).clean)
	copied(&e.Doubt, func(d *Doubt) { clean(&d.Text) })
	copied(&e.End, func(d *End) { clean(&d.Error) })
	return e
}

func (h *Hello) clean() {
	clean(&h.Host, &h.Version)
	clean(&h.Kind)
	ops := make([]string, len(h.Ops))
	for i, op := range h.Ops {
		ops[i] = redact.Text(op)
	}
	not := make(map[string]string, len(h.NotApplicable))
	for op, why := range h.NotApplicable {
		not[redact.Text(op)] = redact.Text(why)
	}
	if len(ops) > 0 {
		h.Ops = ops
	}
	if len(not) > 0 {
		h.NotApplicable = not
	}
	copied(&h.Profile, (*Profile).clean)
}

func (p *Profile) clean() {
	clean(&p.Ladder, &p.Scale)
	clean(&p.Servers)
	clean(&p.Reconnects)
}

// WithoutSecrets is the header as it may be written down. The source of the scenario stays: the run is judged by it.
func (h Header) WithoutSecrets() Header {
	h.Command, h.Host.Command = redact.Args(h.Command), redact.Args(h.Host.Command)
	clean(&h.Host.Name, &h.Host.Version, &h.Host.About)
	h.Host.Profile.clean()
	return h
}

func clean[S ~string](all ...*S) {
	for _, s := range all {
		*s = S(redact.Text(string(*s)))
	}
}

// cleanJSON is a JSON value without secrets. A string is redacted as the text that it stands for: an escape such as \n would become a part
// of the name behind it.
func cleanJSON(value string) string {
	var text string
	if json.Unmarshal([]byte(value), &text) != nil {
		return redact.Text(value)
	}
	without := redact.Text(text)
	if without == text {
		return value
	}
	quoted, _ := json.Marshal(without) // a string has no value that can't be encoded
	return string(quoted)
}

// copied puts a changed copy in the place of what is pointed to.
func copied[T any](at **T, change func(*T)) {
	if *at == nil {
		return
	}
	c := **at
	change(&c)
	*at = &c
}
