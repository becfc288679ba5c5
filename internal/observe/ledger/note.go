package ledger

import (
	"encoding/json"
	"fmt"

	"github.com/leakbench/leakbench/fakeserver/birth"
	"github.com/leakbench/leakbench/internal/bug"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

// maxText caps what a peer may put into one field of a run file, in bytes.
const maxText = 1024

// maxTargets caps how many processes a fault can name.
const maxTargets = 256

// maxStderr is how many events a peer's stderr may make: no law looks at them.
const maxStderr = 64

// take tells at once what a line says that is no server's own word.
func (p *peer) take(line []byte) {
	said, err := decodeNote(line)
	if err != nil {
		p.doubt(record.DoubtLedgerGarbage, err.Error())
		return
	}
	p.tell(said.event)
}

// noteOpens is the kind of a note that asks for an answer, and is no event.
const noteOpens record.Kind = "opens"

// tell tells of a note.
func (p *peer) tell(e record.Event) {
	if e.Kind == noteOpens {
		p.l.opens[p.birth.Label]++
		o := birth.Order{Do: json.RawMessage("null"), Opens: p.l.opens[p.birth.Label]}
		go func() {
			defer bug.Ends()
			_ = p.order(o)
		}() // it may wait for the server, which others must not
		return
	}
	e.Server = p.id
	if e.Kind == record.WroteStderr {
		if p.written++; p.written > maxStderr {
			return
		}
	}
	if e.Kind == record.Doubted {
		p.doubt(e.Doubt.Code, e.Doubt.Text)
		return
	}
	p.l.p.OnEvent(e)
}

// said is a note, and when the server wrote it by its own clock, in nanoseconds since 1970; 0 where it does not say.
type said struct {
	at    int64
	event record.Event
}

// decodeNote is a note as an event without its server.
func decodeNote(line []byte) (said, error) {
	var n birth.Note
	if err := json.Unmarshal(line, &n); err != nil {
		return said{}, fmt.Errorf("a line that is no note: %w", err)
	}
	e, err := eventOf(n)
	return said{n.At, e}, err
}

func eventOf(n birth.Note) (record.Event, error) {
	e := record.Event{}
	switch n.Note {
	case birth.NoteReady:
		e.Kind = record.Ready
	case birth.NoteEOF:
		e.Kind = record.SawEOF
	case birth.NoteSignal:
		e.Kind, e.Signal = record.SawSignal, clip(n.Text)
		e.Text = clip(n.Stdin)
	case birth.NoteBye:
		e.Kind, e.Text = record.Bye, clip(n.Text)
	case birth.NoteStderr:
		e.Kind, e.Text = record.WroteStderr, clip(n.Text)
	case birth.NoteOpens:
		e.Kind = noteOpens
	case birth.NoteRefuse:
		e.Kind, e.Doubt = record.Doubted, &record.Doubt{Code: record.DoubtLedgerRefused, Text: clip(n.Text)}
	case birth.NoteRPC:
		r := record.RPCInfo{}
		if err := json.Unmarshal(n.Data, &r); err != nil {
			return e, fmt.Errorf("an rpc note without its data: %w", err)
		}
		r.Method, r.ID, r.Tool, r.Phase = clip(r.Method), clip(r.ID), clip(r.Tool), clip(r.Phase)
		r.Session, r.Nonce = clip(r.Session), clip(r.Nonce)
		e.Kind, e.RPC = record.RPC, &r
	case birth.NoteFault:
		f := record.Fault{}
		if err := json.Unmarshal(n.Data, &f); err != nil {
			return e, fmt.Errorf("a fault note without its data: %w", err)
		}
		f.On, f.Do, f.Detail = clip(f.On), clip(f.Do), clip(f.Detail)
		f.Targets = f.Targets[:min(len(f.Targets), maxTargets)]
		e.Kind, e.Fault = record.Faulted, &f
	default:
		return e, fmt.Errorf("a note of the unknown kind %q", clip(n.Note))
	}
	return e, nil
}

func clip[S ~string](s S) S { return text.ClipBytes(s, maxText, "…") }
