package gateway

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/subject"
)

const mebi = 1 << 20

// flood is a gateway that answers with 300 MiB after a few bytes, and counts what was taken of them.
func flood(t *testing.T, kind, begin, each string) (url string, taken *atomic.Int64) {
	t.Helper()
	taken = &atomic.Int64{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		fmt.Fprint(w, begin)
		block := bytes.Repeat([]byte(each), mebi/len(each))
		for range 300 {
			n, err := w.Write(block)
			taken.Add(int64(n))
			if err != nil {
				return
			}
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, taken
}

// TestFloods: of an answer without an end little more is read than is allowed, and the request fails at once.
func TestFloods(t *testing.T) {
	for _, c := range []struct{ name, transport, kind, begin, each string }{
		{"a line of a stream", subject.TransportSSE, "text/event-stream", "data: ", "x"},
		{"an event of many lines", subject.TransportSSE, "text/event-stream", "", "data: " + strings.Repeat("x", mebi-7) + "\n"},
		{"a line of an answer", subject.TransportStreamable, "text/event-stream", "data: ", "x"},
		{"an answer in JSON", subject.TransportStreamable, "application/json", `{"a": "`, "x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			url, taken := flood(t, c.kind, c.begin, c.each)
			resp := do(t, begin(t, subject.GatewayParams{URL: url, Transport: c.transport}), open("a"))
			assert.False(t, resp.OK)
			assert.Equal(t, "the gateway sent a message of more than 64 MiB", resp.Error)
			assert.Less(t, taken.Load(), int64(100*mebi))
		})
	}
	t.Run("openapi", func(t *testing.T) {
		url, taken := flood(t, "application/json", `{"a": "`, "x")
		_ = do(t, begin(t, subject.GatewayParams{URL: url, Transport: subject.TransportOpenAPI}), open("a"))
		assert.Less(t, taken.Load(), int64(100*mebi))
	})
}

// TestManyEvents: a stream may be as long as it likes, if its events are short.
func TestManyEvents(t *testing.T) {
	t.Parallel()
	event := "data: {}\r\n\r\n"
	b := &body{ReadCloser: http.NoBody, wire: newWire(), stream: true}
	defer b.wire.cut()
	read := func(text string) error {
		b.ReadCloser = readCloser{strings.NewReader(text)}
		_, err := b.Read(make([]byte, len(text)))
		return err
	}
	long := strings.Repeat("x", mebi)
	for range 100 {
		require.NoError(t, read(event))
		require.NoError(t, read("data: "+long+"\n\n"))
		require.NoError(t, read(event[:9]))
		require.NoError(t, read(event[9:]))
	}
	for range 64 {
		require.NoError(t, b.wire.broken())
		_ = read(long)
	}
	require.NoError(t, b.wire.broken())
	require.Error(t, read("\n"))
	require.Error(t, b.wire.broken())
}

// TestRedirects: the headers of a host file go to the server that it names, and to no other.
func TestRedirects(t *testing.T) {
	t.Parallel()
	var leaked atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		leaked.Store(leaked.Load() || r.Header.Get("X-Key") != "")
	}))
	t.Cleanup(other.Close)
	for _, transport := range []string{subject.TransportStreamable, subject.TransportSSE, subject.TransportOpenAPI} {
		first := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			to := other.URL + "/elsewhere?token=x"
			if strings.HasPrefix(r.URL.Path, "/old") {
				to = "/new" // on the same server: that is followed
			}
			http.Redirect(w, r, to, http.StatusTemporaryRedirect)
		}))
		t.Cleanup(first.Close)
		resp := do(t, begin(t, subject.GatewayParams{URL: first.URL + "/old", Transport: transport, Headers: http.Header{"X-Key": {"secret"}}}), open("a"))
		assert.False(t, resp.OK, transport)
		assert.Contains(t, resp.Error, "the gateway redirects to another origin, "+other.URL+"/elsewhere", transport)
	}
	assert.False(t, leaked.Load(), "the other server got the headers")
}

// TestAnEndpointElsewhere: an SSE gateway that names an endpoint on another server does not get the headers sent there.
func TestAnEndpointElsewhere(t *testing.T) {
	t.Parallel()
	var leaked, posted atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { leaked.Store(true) }))
	t.Cleanup(other.Close)
	first := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			posted.Store(r.Header.Get("X-Key") == "secret")
			http.Error(w, "enough", http.StatusTeapot)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, "event: endpoint\ndata: %s/message\n\nevent: endpoint\ndata: /message\n\n", other.URL)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	t.Cleanup(first.Close)
	gateway := begin(t, subject.GatewayParams{URL: first.URL, Transport: subject.TransportSSE, Headers: http.Header{"X-Key": {"secret"}}})
	assert.False(t, do(t, gateway, open("a")).OK)
	assert.True(t, posted.Load(), "the endpoint on its own server is used")
	assert.False(t, leaked.Load(), "the other server got the headers")
}

type readCloser struct{ *strings.Reader }

func (readCloser) Close() error { return nil }
