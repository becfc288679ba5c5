package hostfile

import (
	"strings"

	"github.com/leakbench/leakbench/internal/subject"
	"github.com/leakbench/leakbench/internal/yamlfile"
)

// requests are calls of REST, one after another: POST: PATH, and a body.
func requests(into *[]subject.Request) yamlfile.Value {
	return yamlfile.List(into, "the requests, in their order", func(r *subject.Request) yamlfile.Value {
		path := func(method string) yamlfile.Key {
			var text string
			return yamlfile.May(method, "a path below the URL", yamlfile.OneLine(&text, "a path", maxText).Then(func(n *yamlfile.Node) {
				if r.Method != "" {
					n.Problem("a request takes one method")
				}
				r.Method, r.Path = strings.ToUpper(method), text
				checkPlaceholders(n, text, inRequest)
			}))
		}
		return yamlfile.Object("a request", path("get"), path("post"), path("put"), path("patch"), path("delete"),
			yamlfile.May("body", "a JSON object; a string that is only {{args}} or {{server.args}} becomes that object or list",
				yamlfile.Free(&r.Body, "the body").Then(func(n *yamlfile.Node) {
					n.EachText(func(n *yamlfile.Node, s string) { checkPlaceholders(n, s, inRequest) })
				})),
		).Then(func(m *yamlfile.Node) {
			if r.Method == "" {
				m.Problem("a request needs a method and a path, for example post: /servers")
			}
		})
	})
}

// checkRequests finds requests that are missing, or that nobody sends.
func checkRequests(m *yamlfile.Node, h *subject.HTTP) {
	for _, key := range []string{"open", "call", "close"} {
		switch given := m.Find(key) != nil; {
		case h.Transport == subject.TransportREST && !given:
			m.Problem("transport: rest needs the requests of open, call and close")
			return
		case h.Transport != subject.TransportREST && given:
			m.Key(key).Problem("%s needs transport: rest", key)
		}
	}
}
