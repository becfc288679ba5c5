package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"time"
)

const (
	dialTimeout  = 10 * time.Second
	maxRedirects = 10
)

// maxMessage is the longest answer, or event of a stream, that a gateway may send, in bytes. The published client keeps all of it.
const maxMessage = 64 << 20

// wire is the TCP connections of one client. cut closes them all, whatever is under way on them, and each that is made later.
type wire struct {
	*http.Client
	life context.Context // ends with the cut
	fail context.CancelCauseFunc
}

func newWire() *wire {
	life, end := context.WithCancelCause(context.Background())
	w := &wire{life: life, fail: end}
	dialer := &net.Dialer{Timeout: dialTimeout}
	w.Client = &http.Client{CheckRedirect: sameOrigin, Transport: &capped{w, &http.Transport{
		Proxy: nil, // a gateway on the bench is on this machine
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := dialer.DialContext(ctx, network, address)
			if err == nil {
				context.AfterFunc(life, func() { c.Close() })
			}
			return c, err
		},
	}}}
	return w
}

func (w *wire) cut() { w.fail(nil) }

// within ends a request when the gateway breaks a rule of the wire: the published client would wait for the rest of the answer.
func (w *wire) within(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(w.life, func() {
		if w.broken() != nil {
			cancel(w.broken())
		}
	})
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// broken is the rule that the gateway broke, if it did.
func (w *wire) broken() error {
	if cause := context.Cause(w.life); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

// why says that the gateway broke a rule, where that is why a request failed.
func (w *wire) why(err error) error {
	if broken := w.broken(); err != nil && broken != nil {
		return broken
	}
	return err
}

// sameOrigin keeps the headers of the host file, which may be secret, from any other server than the one that it names.
func sameOrigin(req *http.Request, via []*http.Request) error {
	if to, from := req.URL, via[0].URL; to.Scheme != from.Scheme || to.Host != from.Host {
		return fmt.Errorf("the gateway redirects to another origin, %s://%s%s: if it is the right one, name it in url",
			to.Scheme, to.Host, to.Path)
	}
	if len(via) >= maxRedirects {
		return fmt.Errorf("the gateway redirects more than %d times", maxRedirects)
	}
	return nil
}

// capped limits what a gateway sends.
type capped struct {
	wire *wire
	http.RoundTripper
}

func (c *capped) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := c.RoundTripper.RoundTrip(req)
	if err == nil {
		kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
		res.Body = &body{ReadCloser: res.Body, wire: c.wire, stream: kind == "text/event-stream"}
	}
	return res, err
}

// body counts the bytes of an answer, and in a stream those of each event, which ends with an empty line.
type body struct {
	io.ReadCloser
	wire   *wire
	stream bool
	size   int
	filled bool // the line that is read has text
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	for rest := p[:n]; len(rest) > 0; {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		b.size += len(rest) - len(after)
		b.filled = b.filled || len(bytes.TrimRight(line, "\r")) > 0
		if b.size > maxMessage {
			err := fmt.Errorf("the gateway sent a message of more than %d MiB", maxMessage>>20)
			b.wire.fail(err)
			return 0, err
		}
		if b.stream && ended && !b.filled {
			b.size = 0
		}
		b.filled = b.filled && !ended
		rest = after
	}
	return n, err
}
