// Package subject is the bench's side of a host: which ones are built in, how a command line becomes one, and how to
// talk to a host's driver. It starts nothing itself: the keeper does, and hands the pipes over.
package subject

import (
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/record"
)

// Spec is a host that can be put on the bench. Texts of a host file may hold
// placeholders ({{port}}), which Prepare fills for a run.
type Spec struct {
	Name    string
	About   string // one line
	Version string // what is tested, where the file says it
	Kind    record.HostKind
	Argv    []string // a command host's holds {{server}}, or its Config does
	Env     []string // on top of the bench's own
	Profile record.Profile

	// The rest is what only a host file can say.

	File       string // where it was read from, or "supergateway/host.yaml" of a preset
	Given      string // what names it on a command line, "" where that is Name
	Dir        string // {{dir}}
	Files      fs.FS  `json:"-"` // of a preset: what stands beside its file; written to Dir for a run
	Install    *Install
	InstallDir string   // {{install}}; "" where the file has no install
	Workdir    string   // "": the bench's own
	Configs    []Config // {{config}} is the first
	Ready      Ready
	HTTP       *HTTP // of a gateway
	Stop       Stop
	Start      record.Duration // 0: the bench's default
	Job        record.Duration // how long a command may take for a job; 0: JobWithin
	Launches   int             // expected server launches for a connect; 0: 1
	// NotApplicable is why an op can't be asked of this host, by op.
	NotApplicable map[string]string
	Scenarios     map[string]Limits // what differs for a scenario, by its name
}

// Install says which packages a preset needs. `leakbench hosts install` puts them into Spec.InstallDir.
type Install struct {
	Runtime  string // "python", "node", "rust", "go"
	Package  string
	Version  string
	Lock     string   // file beside the host file
	Versions []string // others that can be had
	Like     string   // the preset that says all of this, and whose lock file it is; "" is none
	Files    fs.FS    `json:"-"` // what it is installed from; nil is what stands beside the host file
}

// Config is a file that is written before the host starts.
type Config struct {
	Name     string         // {{config.NAME}} is its path; "" has none of its own
	Format   string         // of package hostconfig, or ""
	Path     string         // "" is the format's usual name in {{run}}
	Merge    map[string]any // keys of the document
	Entry    map[string]any // keys of each server's entry
	Template string         // the file's text, instead of a format
}

// Ready is how a host tells that it is up. The zero value is by its kind: a
// driver's hello, a gateway's first answer, a command's first server.
type Ready struct {
	HTTP   string // a URL that answers, with whatever status
	Output string // a regular expression for a line of its stdout or stderr
	Server bool   // its first server has shaken hands
}

// Transports of a gateway.
const (
	TransportStreamable = "streamable"
	TransportSSE        = "sse"
	TransportOpenAPI    = "openapi" // a POST of the arguments to URL/TOOL, as mcpo has it
	TransportREST       = "rest"    // the requests of HTTP.Open, Call and Close
)

// Request is a call of REST, or of JSON-RPC over HTTP: what stands between double braces in its path and its body is
// filled in for each session and call.
type Request struct {
	Method string         `json:"method"`
	Path   string         `json:"path"` // below the URL
	Body   map[string]any `json:"body,omitempty"`
}

// Requests are how a host that is controlled by REST is asked: each in its order.
type Requests struct {
	Open  []Request `json:"open,omitempty"`  // add a server, and start it
	Call  []Request `json:"call,omitempty"`  // call a tool
	Close []Request `json:"close,omitempty"` // stop it, and remove it
}

// RequestPlaceholders are those that only requests have.
var RequestPlaceholders = []string{"label", "session", "tool", "args", "server.command", "server.args"}

// HTTP is how a gateway is driven.
type HTTP struct {
	Transport string
	URL       string // {{label}} in it is the server's label: the gateway then holds all servers of a scenario
	Headers   http.Header
	Servers   record.Sharing
	Requests  Requests // of TransportREST
}

// GatewayEnv is the variable in which the clients before a gateway, a process of the bench's, find their
// GatewayParams as JSON: headers may be secret, and everybody can read a command line.
const GatewayEnv = "LEAKBENCH_GATEWAY"

// GatewayParams say what stands behind those clients.
type GatewayParams struct {
	URL       string      `json:"url"`
	Transport string      `json:"transport"`
	Headers   http.Header `json:"headers,omitempty"`
	// Own says that the gateway launches a server for each session or request: the clients tell it whose it is.
	Own      bool     `json:"own,omitempty"`
	Requests Requests `json:"requests"`
}

// JobWithin is how long a oneshot host's command may take for a job, where its file does not say so.
const JobWithin = time.Minute

// OneshotEnv is the variable in which the scheduler of a oneshot host finds its OneshotParams as JSON.
const OneshotEnv = "LEAKBENCH_ONESHOT"

// OneshotParams say what a oneshot host's jobs run.
type OneshotParams struct {
	Host Spec   `json:"host"`
	Self string `json:"self"`
	Run  string `json:"run"` // folder below which each job gets its {{run}}
	Tmp  string `json:"tmp"` // and this its {{tmp}}
}

// Stop is the host's orderly end. The zero value is by its kind: a driver's stop, else SIGTERM.
type Stop struct {
	Signal string // "SIGINT"; "" with EOF: none
	EOF    bool   // its stdin is closed first
}

// Limits are what differs for one scenario. Zero values differ in nothing.
type Limits struct {
	NotApplicable string // why it can't be played with this host
	Settle        record.Duration
	Confirm       record.Duration
	Close         record.Duration
	Stop          record.Duration

	SpawnsPerSession int
	SpawnsPerMinute  int
}

// HoldsAll says that the host launches all servers of a scenario, and not only the one that {{server}} stands for.
func (s Spec) HoldsAll() bool {
	switch s.Kind {
	case record.KindGateway:
		return strings.Contains(s.HTTP.URL, LabelPlaceholder) || s.HTTP.Transport == TransportREST ||
			strings.Contains(s.HTTP.URL, "{{server.command}}")
	case record.KindCommand:
		return slices.ContainsFunc(s.Configs, func(c Config) bool { return c.Format != "" })
	}
	return true
}

// SessionsUnknown says that its servers can't be told apart by session.
func (s Spec) SessionsUnknown() bool { return s.Recorded().SessionsUnknown() }

// Recorded is the host as a run file has it; the command line is not redacted.
func (s Spec) Recorded() record.Host {
	h := record.Host{Name: s.Name, Kind: s.Kind, Version: s.Version, Command: s.Argv, About: s.About, Profile: s.Profile}
	if s.HTTP != nil {
		h.Servers = s.HTTP.Servers
	}
	return h
}

// Missing is what a host needs and this machine does not have.
type Missing struct {
	What string
	Run  string // the command that brings it, or ""
}

// Error says what is missing.
func (m *Missing) Error() string { return m.What }
