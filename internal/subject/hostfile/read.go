package hostfile

import (
	"cmp"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject"
	"github.com/leakbench/leakbench/internal/subject/hostconfig"
	"github.com/leakbench/leakbench/internal/yamlfile"
)

// unknown is how long a host may take of which nothing is said: the longest teardown of any published client is 15 s.
// Only a run that is not clean waits that long.
const unknown = record.Duration(15 * time.Second)

const (
	maxAbout    = 100
	maxText     = 4096
	maxRunning  = 1000
	maxLaunches = 100
	maxSpawns   = 1 << 20
)

// kinds are the ways to drive a host that a word says.
var kinds = map[string]record.HostKind{"driver": record.KindDriver, "nothing": record.KindCommand, "oneshot": record.KindOneshot}

// stopSignals are those that end a program in an orderly way.
var stopSignals = []string{"SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGKILL"}

// read reads a host file that stands in dir.
func read(root *yamlfile.Node, dir string) subject.Spec {
	s := subject.Spec{NotApplicable: map[string]string{}, Scenarios: map[string]subject.Limits{}}
	s.Profile.Stop, s.Profile.Settle = unknown, unknown
	hostObject(&s, dir).Read(root)
	return s
}

// hostObject is the whole file.
func hostObject(s *subject.Spec, dir string) yamlfile.Value {
	p := &s.Profile
	return yamlfile.Object("a host",
		yamlfile.Need("name", "", yamlfile.Name(&s.Name, "the name of a host")),
		yamlfile.Need("about", "", yamlfile.OneLine(&s.About, "what it is", maxAbout)),
		yamlfile.Need("command", "", command(&s.Argv)),
		yamlfile.May("env", "environment variables, added to those of leakbench", environment(&s.Env)),
		yamlfile.May("workdir", "the working directory (default: that of leakbench)", oneLine(&s.Workdir, "a folder")),
		yamlfile.May("config", "a file that is written before the host starts, or a list of such files",
			yamlfile.OneOrMore(&s.Configs, "configs", config)),
		yamlfile.Need("drive", "driver: speaks the driver protocol; http: a gateway; oneshot: one command for each job of a tick; "+
			"absent: it is only started, watched and stopped", drive(s)),
		yamlfile.May("ready", "how leakbench detects that it is up", ready(s)),
		yamlfile.May("stop", "how to stop it (default SIGTERM)", yamlfile.Object("stop",
			yamlfile.May("signal", "", yamlfile.Choice(&s.Stop.Signal, "a signal", stopSignals...)),
			yamlfile.May("eof", "close its stdin first", yamlfile.Yes(&s.Stop.EOF)),
			yamlfile.May("within", "the longest orderly shutdown of the host", yamlfile.Time(&p.Stop)))),
		yamlfile.May("settle", "the longest orderly shutdown of one server (default 15s)", yamlfile.Time(&p.Settle)),
		yamlfile.May("confirm", "its longest request timeout: how long to watch survivors", yamlfile.Time(&p.Confirm)),
		yamlfile.May("start", "how long it may take to be ready (default 15s)", yamlfile.Time(&s.Start)),
		yamlfile.May("job", "how long its command may take for a job (default 60s); one that has not exited by then is a finding",
			yamlfile.Time(&s.Job)),
		yamlfile.May("ladder", "", yamlfile.OneLine(&p.Ladder, "the teardown, in words", maxText)),
		yamlfile.May("scale", "", yamlfile.OneLine(&p.Scale, "a factor, in words", maxText)),
		yamlfile.May("launches", "expected server launches per connect (default 1)",
			yamlfile.Whole(&s.Launches, "a number of launches", 1, maxLaunches)),
		yamlfile.May("resident", "how many servers of a label it keeps on purpose after their sessions end",
			yamlfile.Whole(&p.Resident, "a number of servers", 0, maxRunning)),
		yamlfile.May("spare", "how many spare servers of a label it keeps for the next session",
			yamlfile.Whole(&p.Spare, "a number of servers", 0, maxRunning)),
		yamlfile.May("idle", "after how long without a call it ends the server of an open session in order, to relaunch it at the next call",
			yamlfile.Time(&p.Idle)),
		yamlfile.May("renewal", "how often it replaces the server of an open session, ending the old one in order", yamlfile.Time(&p.Renewal)),
		yamlfile.May("reconnects", "itself: it replaces the lost server of an open session without being asked, at the next call at the latest",
			yamlfile.Choice(&p.Reconnects, "a way", record.ByItself)),
		yamlfile.May("not_applicable", "scenarios that do not apply to it, and why", notApplicable(s.NotApplicable)),
		yamlfile.May("scenarios", "what differs for a scenario", limits(s.Scenarios, dir)),
		yamlfile.May("install", "the packages that leakbench hosts install puts in place", install(&s.Install)),
		yamlfile.May("like", "a preset: this host has its install section, with the lock file that belongs to it", like(&s.Install)),
	).Then(func(m *yamlfile.Node) {
		if m.Find("like") != nil && m.Find("install") != nil {
			m.Key("install").Problem("a host takes install or like, not both")
		}
		p.Confirm = cmp.Or(p.Confirm, p.Settle)
		if s.Kind == record.KindDriver && (s.Stop.Signal != "" || s.Stop.EOF) {
			m.Key("stop").Problem("a driver is stopped through the protocol, so stop takes only within")
		}
		if s.Job > 0 && s.Kind != record.KindOneshot && s.Kind != "" {
			m.Key("job").Problem("only a oneshot host has a command for each job")
		}
		checkConfigs(m, s.Configs)
		checkServer(m, *s)
	})
}

// oneLine is one line that may hold placeholders.
func oneLine(into *string, what string) yamlfile.Value {
	return yamlfile.OneLine(into, what, maxText).Then(func(n *yamlfile.Node) { checkPlaceholders(n, *into, places) })
}

// argument is text or a number that may hold placeholders.
func argument(into *string, what string) yamlfile.Value {
	return yamlfile.Argument(into, what).Then(func(n *yamlfile.Node) { checkPlaceholders(n, *into, places) })
}

func command(into *[]string) yamlfile.Value {
	const says = "the command line, a list without a shell; {{server}} is the fake server's, {{config}} the config file, " +
		"{{port}} a free port, {{run}} a folder for this run, {{dir}} the folder of this file, {{install}} the installed packages"
	return yamlfile.List(into, "the command, as a list of its arguments", func(arg *string) yamlfile.Value {
		first := len(*into) == 0
		return argument(arg, "an argument").Says(says).Then(func(n *yamlfile.Node) {
			if first {
				checkProgram(n, *arg)
			}
		})
	}).Says(says)
}

func environment(into *[]string) yamlfile.Value {
	return yamlfile.FreeMap("env", func(key *yamlfile.Node) yamlfile.Value {
		var value string
		return argument(&value, "the value of a variable").Then(func(*yamlfile.Node) {
			name := key.Word()
			if name == "" || strings.ContainsAny(name, "=\x00") {
				key.Problem("%q is not the name of a variable", yamlfile.Clip(name))
			}
			*into = append(*into, name+"="+value)
		})
	})
}

func config(c *subject.Config) yamlfile.Value {
	return yamlfile.Object("config",
		yamlfile.May("name", "{{config.NAME}} is its path; {{config}} is that of the first", yamlfile.Name(&c.Name, "the name of a config")),
		yamlfile.May("format", "", yamlfile.Choice(&c.Format, "a format", hostconfig.Names()...)),
		yamlfile.May("path", "its path (default: the format's usual name in {{run}})", oneLine(&c.Path, "a path")),
		yamlfile.May("merge", "keys of the document, merged deeply", tree(&c.Merge, "the keys to merge")),
		yamlfile.May("entry", "keys of each server's entry", tree(&c.Entry, "the keys of each entry")),
		yamlfile.May("template", "the text of the file, instead of a format",
			yamlfile.Verbatim(&c.Template, "the text of the file").Then(func(n *yamlfile.Node) { checkPlaceholders(n, c.Template, inTemplate) })),
	).Then(func(m *yamlfile.Node) {
		format, template := m.Find("format") != nil, m.Find("template") != nil
		switch {
		case m.Kind == yamlfile.KindMapping && !format && !template:
			m.Problem("config needs a format (%s) or a template", strings.Join(hostconfig.Names(), ", "))
		case template && format:
			m.Key("template").Problem("a config takes a format or a template, not both")
		case template && c.Path == "":
			m.Key("template").Problem("a template needs a path")
		}
		for _, key := range []string{"merge", "entry"} {
			if template && m.Find(key) != nil {
				m.Key(key).Problem("%s needs a format; with a template, write it into the text", key)
			}
		}
	})
}

// tree is a mapping with any keys, whose texts may hold placeholders.
func tree(into *map[string]any, what string) yamlfile.Value {
	return yamlfile.Free(into, what).Then(func(n *yamlfile.Node) {
		n.EachText(func(n *yamlfile.Node, s string) { checkPlaceholders(n, s, places) })
	})
}

// drive is a word, or a mapping for HTTP.
func drive(s *subject.Spec) yamlfile.Value {
	var word string
	h := &subject.HTTP{Transport: subject.TransportStreamable, Servers: record.PerSession, Headers: http.Header{}}
	return yamlfile.Either(
		yamlfile.Choice(&word, "how a host is driven (or http: with how)", "driver", "nothing", "oneshot").
			Then(func(*yamlfile.Node) { s.Kind = kinds[word] }),
		yamlfile.Object("drive", yamlfile.Need("http", "", gateway(h))).Then(func(*yamlfile.Node) { s.Kind, s.HTTP = record.KindGateway, h }))
}

func gateway(h *subject.HTTP) yamlfile.Value {
	return yamlfile.Object("http",
		yamlfile.May("transport", "default: streamable",
			yamlfile.Choice(&h.Transport, "a transport",
				subject.TransportStreamable, subject.TransportSSE, subject.TransportOpenAPI, subject.TransportREST)),
		yamlfile.May("servers", "for whom it launches a server (default per-session)",
			yamlfile.Choice(&h.Servers, "for whom it launches a server", record.PerSession, record.PerRequest, record.Shared)),
		yamlfile.Need("url", "",
			yamlfile.OneLine(&h.URL, "a URL", maxText).Then(func(n *yamlfile.Node) { checkPlaceholders(n, h.URL, inURL); checkURL(n, h.URL) })),
		yamlfile.May("headers", "", yamlfile.FreeMap("headers", func(key *yamlfile.Node) yamlfile.Value {
			var value string
			return yamlfile.Argument(&value, "the value of a header").Then(func(n *yamlfile.Node) {
				checkHeader(key, n, value)
				h.Headers.Set(key.Word(), value)
			})
		})),
		yamlfile.May("open", "rest: the requests that add a server and start it", requests(&h.Requests.Open)),
		yamlfile.May("call", "rest: those that call a tool", requests(&h.Requests.Call)),
		yamlfile.May("close", "rest: those that stop a server and remove it", requests(&h.Requests.Close)),
	).Then(func(m *yamlfile.Node) { checkRequests(m, h) })
}

// ready is a word, or a mapping of what to look for.
func ready(s *subject.Spec) yamlfile.Value {
	var word string
	return yamlfile.Either(
		yamlfile.Choice(&word, "how a host is ready (or http: URL, or output: a regular expression)",
			"hello", "server").Then(func(n *yamlfile.Node) {
			s.Ready.Server = word == "server"
			if word == "hello" && s.Kind != record.KindDriver && s.Kind != "" {
				n.Problem("only a driver says hello")
			}
			if s.Ready.Server && s.Kind.Driven() {
				n.Problem("a host of this kind launches no server before it is asked to")
			}
		}),
		yamlfile.Object("ready",
			yamlfile.May("http", "", oneLine(&s.Ready.HTTP, "a URL").Then(func(n *yamlfile.Node) { checkURL(n, s.Ready.HTTP) })),
			yamlfile.May("output", "", yamlfile.OneLine(&s.Ready.Output, "a regular expression", maxText).Then(func(n *yamlfile.Node) {
				if _, err := regexp.Compile(s.Ready.Output); err != nil {
					n.Problem("not a regular expression: %v", err)
				}
			})),
		).Then(func(m *yamlfile.Node) {
			if (s.Ready.HTTP == "") == (s.Ready.Output == "") {
				m.Problem("ready takes either http (a URL) or output (a regular expression)")
			}
			if s.Kind.Driven() && (s.Ready.HTTP != "" || s.Ready.Output != "") {
				m.Problem("a %s host is ready by itself; leave this out", s.Kind)
			}
		}))
}

// notApplicable is op: why.
func notApplicable(into map[string]string) yamlfile.Value {
	var keys []yamlfile.Key
	for _, op := range driver.Ops {
		var why string
		keys = append(keys, yamlfile.May(op, "", yamlfile.OneLine(&why, "a reason", 200).Then(func(*yamlfile.Node) { into[op] = why })))
	}
	return yamlfile.Object("not_applicable", keys...)
}

func limits(into map[string]subject.Limits, dir string) yamlfile.Value {
	return yamlfile.Map("scenarios", func(key *yamlfile.Node) yamlfile.Value {
		var name string
		var l subject.Limits
		yamlfile.Name(&name, "the name of a scenario").Then(func(*yamlfile.Node) { checkScenario(key, name, dir) }).Read(key)
		return yamlfile.Object("what differs for a scenario",
			yamlfile.May("not_applicable", "", yamlfile.OneLine(&l.NotApplicable, "a reason", 200)),
			yamlfile.May("settle", "", yamlfile.Time(&l.Settle)),
			yamlfile.May("confirm", "", yamlfile.Time(&l.Confirm)),
			yamlfile.May("close", "", yamlfile.Time(&l.Close)),
			yamlfile.May("stop", "", yamlfile.Time(&l.Stop)),
			yamlfile.May("spawns_per_session", "", yamlfile.Whole(&l.SpawnsPerSession, "a number of launches", 1, maxSpawns)),
			yamlfile.May("spawns_per_minute", "", yamlfile.Whole(&l.SpawnsPerMinute, "a number of launches", 1, maxSpawns)),
		).Then(func(*yamlfile.Node) { into[name] = l })
	})
}

func install(into **subject.Install) yamlfile.Value {
	in := &subject.Install{}
	return yamlfile.Object("install",
		yamlfile.Need("runtime", "", yamlfile.Choice(&in.Runtime, "a runtime", "python", "node", "rust", "go")),
		yamlfile.Need("package", "", yamlfile.OneLine(&in.Package, "the name of a package", maxAbout)),
		yamlfile.Need("version", "", version(&in.Version)),
		yamlfile.May("lock", "", yamlfile.OneLine(&in.Lock, "a file", maxAbout)),
		yamlfile.May("versions", "", yamlfile.List(&in.Versions, "other versions", version)),
	).Then(func(m *yamlfile.Node) {
		*into = in
		if strings.ContainsAny(in.Lock, `/\`) {
			m.Key("lock").Problem("the lock file must be beside the host file: give only its name")
		}
		checkPackage(m, in)
	})
}

var versionForm = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z.+_-]*$`)

func version(into *string) yamlfile.Value {
	const what = `a version, in quotes where it could be a number ("2.0")`
	return yamlfile.OneLine(into, what, 40).Like(versionForm).Then(func(n *yamlfile.Node) {
		if *into != "" && !versionForm.MatchString(*into) {
			n.Problem("%q is not a version", yamlfile.Clip(*into))
		}
	})
}

// SchemaURL is where the schema of the format is found, and its name.
const SchemaURL = "https://raw.githubusercontent.com/leakbench/leakbench/main/docs/schema/host.schema.json"

// Schema is the JSON Schema (draft 2020-12) of the host file, for editors. It is made of what the reader reads with.
func Schema() []byte {
	return yamlfile.DescribeFile(hostObject(&subject.Spec{}, ""), SchemaURL, "leakbench host",
		"A host that leakbench can test: docs/use/host-file.md", yamlfile.Definitions())
}
