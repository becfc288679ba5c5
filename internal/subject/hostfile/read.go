package hostfile

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject/host"
	"github.com/leakbench/leakbench/internal/subject/hostconfig"
	"github.com/leakbench/leakbench/internal/yamlfile"
)

// unknown is how long a host may take of which nothing is said: the longest
// teardown of any published client is 15 s. Only a run that is not clean waits
// that long.
const unknown = record.Duration(15 * time.Second)

const (
	maxAbout    = 100
	maxText     = 4096
	maxRunning  = 1000
	maxLaunches = 100
	maxSpawns   = 1 << 20
)

// The ways to drive a host.
const (
	driveDriver  = "driver"
	driveNothing = "nothing"
	driveOneshot = "oneshot"
	driveHTTP    = "http"
)

var kinds = map[string]record.HostKind{
	driveDriver: record.KindDriver, driveNothing: record.KindCommand, driveOneshot: record.KindOneshot, driveHTTP: record.KindGateway,
}

// stopSignals are those that end a program in an orderly way.
var stopSignals = []string{"SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGKILL"}

func read(root *yamlfile.Node) host.Spec {
	m := root.Mapping("a host")
	s := host.Spec{
		Name:  m.Need("name").Name("the name of a host"),
		About: m.Need("about").OneLine("what it is", maxAbout),
		Argv:  texts(m.Need("command"), "the command"),
		Env:   environment(m.Get("env").Mapping("env")),
	}
	s.Workdir = oneLine(m.Get("workdir"), "a folder")
	s.Config = readConfig(m.Get("config"))
	drive := readDrive(m.Need("drive"), &s)
	readReady(m.Get("ready"), drive, &s)
	readTimes(m, &s)
	s.Launches = m.Get("launches").Whole("a number of launches", 1, maxLaunches)
	s.Profile.Resident = m.Get("resident").Whole("a number of servers", 0, maxRunning)
	s.NotApplicable = readReasons(m.Get("not_applicable").Mapping("not_applicable"))
	s.Scenarios = readScenarios(m.Get("scenarios"))
	s.Install = readInstall(m.Get("install"))
	m.Done()
	checkServer(m, s)
	return s
}

// oneLine is one line that may hold placeholders.
func oneLine(n *yamlfile.Node, what string) string {
	s := n.OneLine(what, maxText)
	checkPlaceholders(n, s, places)
	return s
}

// texts is a list of such, as of a command line.
func texts(n *yamlfile.Node, what string) []string {
	var all []string
	for i, item := range n.List(what + ", as a list of its arguments") {
		arg := item.Argument("an argument")
		checkPlaceholders(item, arg, places)
		all = append(all, arg)
		if i == 0 && arg == host.Placeholder {
			item.Problem("%s can't be the command itself: the host is what starts the server", host.Placeholder)
		}
	}
	return all
}

func environment(m *yamlfile.Mapping) []string {
	var all []string
	for _, p := range m.FreeEntries() {
		key := p.Key.Word()
		if key == "" || strings.ContainsAny(key, "=\x00") {
			p.Key.Problem("%q is no name of a variable", yamlfile.Clip(key))
		}
		value := p.Value.Argument("the value of a variable")
		checkPlaceholders(p.Value, value, places)
		all = append(all, key+"="+value)
	}
	return all
}

func readConfig(n *yamlfile.Node) *host.Config {
	if n == nil {
		return nil
	}
	m := n.Mapping("config")
	c := &host.Config{
		Format:   m.Get("format").Choice("a format", hostconfig.Names()...),
		Path:     oneLine(m.Get("path"), "a path"),
		Merge:    m.Get("merge").Free("the keys to merge"),
		Entry:    m.Get("entry").Free("the keys of each entry"),
		Template: m.Get("template").Verbatim("the text of the file"),
	}
	m.Done()
	checkPlaceholders(m.Find("template"), c.Template, inTemplate)
	for _, key := range []string{"merge", "entry"} {
		m.Find(key).EachText(func(n *yamlfile.Node, s string) { checkPlaceholders(n, s, places) })
	}
	template := m.Find("template") != nil
	switch {
	case m.Is(yamlfile.KindMapping) && m.Find("format") == nil && !template:
		m.Problem("config needs a format (%s) or a template", strings.Join(hostconfig.Names(), ", "))
	case template && m.Find("format") != nil:
		m.At("template").Problem("a config is rendered in a format or from a template, not both")
	case template && c.Path == "":
		m.At("template").Problem("a template needs a path: the file's name is not known")
	}
	for _, key := range []string{"merge", "entry"} {
		if template && m.Find(key) != nil {
			m.At(key).Problem("%s goes with a format; a template has everything in its text", key)
		}
	}
	return c
}

// readDrive is a word, or a mapping for HTTP.
func readDrive(n *yamlfile.Node, s *host.Spec) string {
	if n != nil && n.Probing() {
		n.Alternatives(func(n *yamlfile.Node) { n.Choice("how it is driven", driveDriver, driveNothing, driveOneshot) },
			func(n *yamlfile.Node) { readHTTP(n) })
		return ""
	}
	if n.Is(yamlfile.KindMapping) {
		s.Kind, s.HTTP = record.KindGateway, readHTTP(n)
		return driveHTTP
	}
	word := n.Choice("how a host is driven (or http: with how)", driveDriver, driveNothing, driveOneshot)
	s.Kind = kinds[word]
	return word
}

func readHTTP(n *yamlfile.Node) *host.HTTP {
	outer := n.Mapping("drive")
	m := outer.Need(driveHTTP).Mapping("http")
	h := &host.HTTP{
		Transport: m.Get("transport").Choice("a transport", host.TransportStreamable, host.TransportSSE, host.TransportOpenAPI),
		Headers:   http.Header{},
		Servers: record.Sharing(m.Get("servers").Choice("for whom it launches a server",
			string(record.PerSession), string(record.PerRequest), string(record.Shared))),
	}
	url := m.Need("url")
	h.URL = url.OneLine("a URL", maxText)
	checkPlaceholders(url, h.URL, inURL)
	for _, p := range m.Get("headers").Mapping("headers").FreeEntries() {
		h.Headers.Set(p.Key.Word(), p.Value.Argument("the value of a header"))
	}
	m.Done()
	outer.Done()
	if h.Transport == "" {
		h.Transport = host.TransportStreamable
	}
	if h.Servers == "" {
		h.Servers = record.PerSession
	}
	return h
}

func readReady(n *yamlfile.Node, drive string, s *host.Spec) {
	if n == nil {
		return
	}
	if n.Probing() {
		n.Alternatives(func(n *yamlfile.Node) { n.Choice("how it is ready", "hello", "server") }, func(n *yamlfile.Node) { readReadyMapping(n, s) })
		return
	}
	if n.Is(yamlfile.KindMapping) {
		readReadyMapping(n, s)
	} else {
		word := n.Choice("how a host is ready (or http: URL, or output: a regular expression)", "hello", "server")
		s.Ready.Server = word == "server"
		if word == "hello" && drive != driveDriver && drive != "" {
			n.Problem("only a driver says hello")
		}
		if word == "server" && drive != driveNothing && drive != "" && drive != driveHTTP {
			n.Problem("a host of this kind launches no server before it is asked to")
		}
	}
	if (drive == driveDriver || drive == driveOneshot) && (s.Ready.HTTP != "" || s.Ready.Output != "") {
		n.Problem("a %s host is ready by itself; leave this out", drive)
	}
}

func readReadyMapping(n *yamlfile.Node, s *host.Spec) {
	m := n.Mapping("ready")
	s.Ready.HTTP = oneLine(m.Get("http"), "a URL")
	output := m.Get("output")
	s.Ready.Output = output.OneLine("a regular expression", maxText)
	if _, err := regexp.Compile(s.Ready.Output); err != nil {
		output.Problem("this is no regular expression: %v", err)
	}
	m.Done()
	if m.Is(yamlfile.KindMapping) && (s.Ready.HTTP == "") == (s.Ready.Output == "") {
		m.Problem("ready is one of http: URL and output: a regular expression")
	}
}

func readTimes(m *yamlfile.Mapping, s *host.Spec) {
	stop := m.Get("stop").Mapping("stop")
	s.Stop = host.Stop{Signal: stop.Get("signal").Choice("a signal", stopSignals...), EOF: stop.Get("eof").Yes()}
	p := &s.Profile
	p.Stop = or(stop.Get("within").Duration(), unknown)
	stop.Done()
	p.Settle = or(m.Get("settle").Duration(), unknown)
	p.Confirm = or(m.Get("confirm").Duration(), p.Settle)
	s.Start = m.Get("start").Duration()
	p.Ladder = m.Get("ladder").OneLine("the teardown in words", maxText)
	p.Scale = m.Get("scale").OneLine("a factor in words", maxText)
	if s.Kind == record.KindDriver && (s.Stop.Signal != "" || s.Stop.EOF) {
		m.At("stop").Problem("a driver is ended by the protocol's stop; of stop only within is for it")
	}
}

func or(d, instead record.Duration) record.Duration {
	if d > 0 {
		return d
	}
	return instead
}

// readReasons is op: why.
func readReasons(m *yamlfile.Mapping) map[string]string {
	reasons := map[string]string{}
	for _, op := range driver.Ops {
		if why := m.Get(op).OneLine("a reason", 200); why != "" {
			reasons[op] = why
		}
	}
	m.Done()
	return reasons
}

func readScenarios(n *yamlfile.Node) map[string]host.Limits {
	all := map[string]host.Limits{}
	for _, p := range n.Mapping("scenarios").Entries() {
		name := p.Key.Name("the name of a scenario")
		m := p.Value.Mapping("what differs for a scenario")
		l := host.Limits{
			NotApplicable: m.Get("not_applicable").OneLine("a reason", 200),
			Settle:        m.Get("settle").Duration(), Confirm: m.Get("confirm").Duration(),
			Close: m.Get("close").Duration(), Stop: m.Get("stop").Duration(),
			SpawnsPerSession: m.Get("spawns_per_session").Whole("a number of launches", 1, maxSpawns),
			SpawnsPerMinute:  m.Get("spawns_per_minute").Whole("a number of launches", 1, maxSpawns),
		}
		m.Done()
		all[name] = l
	}
	return all
}

func readInstall(n *yamlfile.Node) *host.Install {
	if n == nil {
		return nil
	}
	m := n.Mapping("install")
	in := &host.Install{
		Runtime: m.Need("runtime").Choice("a runtime", "python", "node", "rust", "go"),
		Package: m.Need("package").OneLine("the name of a package", maxAbout),
		Version: version(m.Need("version")),
		Lock:    m.Get("lock").OneLine("a file", maxAbout),
	}
	if strings.ContainsAny(in.Lock, `/\`) {
		m.At("lock").Problem("the lock file stands beside the host file: give its name alone")
	}
	for _, item := range m.Get("versions").List("other versions") {
		in.Versions = append(in.Versions, version(item))
	}
	m.Done()
	return in
}

var versionForm = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z.+_-]*$`)

func version(n *yamlfile.Node) string {
	v := n.OneLine(`a version, in quotes where it could be a number ("2.0")`, 40)
	if n != nil && n.Probing() {
		n.Shape.Like(versionForm)
	} else if v != "" && !versionForm.MatchString(v) {
		n.Problem("%q is no version", yamlfile.Clip(v))
	}
	return v
}

// checkServer finds a host that is never told what to launch.
func checkServer(m *yamlfile.Mapping, s host.Spec) {
	if s.Kind == record.KindDriver || s.Kind == "" || len(s.Argv) == 0 {
		return
	}
	names := func(texts []string) bool {
		return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(t, host.Placeholder) })
	}
	told := names(s.Argv[1:]) || names(s.Env) || s.Config != nil
	if !told && m.Find("command") != nil {
		m.At("command").Problem("the host must be told what to launch: write %s into the command, or give it a config", host.Placeholder)
	}
	if s.HTTP != nil && strings.Contains(s.HTTP.URL, "{{label}}") && s.Config == nil {
		m.At("drive").Problem("a URL with {{label}} is for a gateway that holds several servers: it needs a config")
	}
}
