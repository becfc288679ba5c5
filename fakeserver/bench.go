package fakeserver

import (
	"encoding/json"
	"io"
	"os"
	"time"

	"github.com/leakbench/leakbench/fakeserver/birth"
)

// Exit statuses that no script asked for.
const (
	statusUsage     = 2  // as of a panic
	statusNoBench   = 71 // the bench could not be reached, or refused this server
	statusBenchGone = 72
	statusLifetime  = 73
)

// bench takes all reports of a server: the ledger, or stderr if a person started the server.
type bench struct {
	conn   *birth.Conn // nil by hand
	stderr io.Writer
}

// note returns when the bench has n. If the bench can't be reached, it is gone, and the server ends: it does nothing unannounced.
func (b bench) note(n birth.Note) {
	if b.conn == nil {
		line, _ := json.Marshal(n)
		_, _ = b.stderr.Write(append(line, '\n'))
		return
	}
	if b.conn.Note(n) != nil {
		vanish(statusBenchGone)
	}
}

func (b bench) fault(f birth.Fault) { b.data(birth.NoteFault, f) }

func (b bench) rpc(r birth.RPC) {
	r.ID, r.Tool, r.Session = clip(r.ID), clip(r.Tool), clip(r.Session)
	b.data(birth.NoteRPC, r)
}

func (b bench) data(kind string, v any) {
	data, _ := json.Marshal(v)
	b.note(birth.Note{Note: kind, Data: data})
}

// orderQueue is how many orders may wait while one is obeyed.
const orderQueue = 64

// obey takes orders until the bench is gone, and then ends the process, whatever an order or a fault is doing meanwhile.
func (s *server) obey() {
	queue := make(chan birth.Order, orderQueue)
	go func() {
		for o := range queue {
			s.order(o)
		}
	}()
	for o := range s.bench.conn.Orders() {
		if o.Opens > 0 {
			s.number <- o.Opens
			continue
		}
		select {
		case queue <- o:
		default:
			s.refuseOrder("too many orders are waiting")
		}
	}
	vanish(statusBenchGone)
}

func (s *server) order(o birth.Order) {
	var f Fault
	if err := json.Unmarshal(o.Do, &f); err != nil {
		s.refuseOrder("the order is no fault: " + err.Error())
		return
	}
	if f.On == "" {
		f.On = onOrder
	}
	if err := f.Check().Err(); err != nil {
		s.refuseOrder(err.Error())
		return
	}
	if f.On != onOrder {
		s.refuseOrder("on: " + f.On + " can't be ordered, only on: order")
		return
	}
	s.do(f.action(), f, nil)
}

func (s *server) refuseOrder(why string) {
	s.bench.note(birth.Note{Note: birth.NoteRefuse, Text: why})
}

// vanish ends the process at once, by SIGKILL if it has to. It does not return.
func vanish(status int) {
	time.AfterFunc(time.Second, func() {
		endSelf(status)
	})
	os.Exit(status)
}
