package hostfile

import (
	"cmp"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/internal/yamlfile"
	"github.com/leakbench/leakbench/scenarios"
)

// What is written as the format asks and could not work.

// checkProgram looks at the first word of a command.
func checkProgram(n *yamlfile.Node, word string) {
	switch _, text := n.Scalar.(string); {
	case word == subject.Placeholder:
		n.Problem("%s cannot be the command itself: the host starts the server", subject.Placeholder)
	case !text && n.Source != "":
		n.Problem("a command must begin with a program, not with a number; quote it if it is a name")
	case text && strings.TrimSpace(word) == "":
		n.Problem("a command must begin with a program, and this is empty")
	}
}

// checkURL finds what can't be asked over HTTP.
func checkURL(n *yamlfile.Node, address string) {
	u, err := url.Parse(placeholder.ReplaceAllString(address, "1")) // which may be a host, a port or a path
	switch {
	case address == "": // another check reports it
	case err != nil:
		var why *url.Error
		if errors.As(err, &why) {
			err = why.Err
		}
		n.Problem("not a URL: %v", err)
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		n.Problem("a gateway needs an HTTP URL: write http://127.0.0.1:{{port}}/...")
	case u.Port() != "" && !isPort(u.Port()):
		n.Problem("%s is not a port", u.Port())
	}
}

func isPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && n > 0
}

// headerName is a token, and what is not in headerValue may stand in no field (RFC 9110, 5.1 and 5.5).
var (
	headerName  = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")
	headerValue = regexp.MustCompile(`^[^\x00-\x08\x0a-\x1f\x7f]*$`)
)

func checkHeader(key, n *yamlfile.Node, value string) {
	if !headerName.MatchString(key.Word()) {
		key.Problem("%q is not the name of a header", yamlfile.Clip(key.Word()))
	}
	if !headerValue.MatchString(value) {
		n.Problem("the value of a header must be one line without control characters")
	}
}

// checkScenario refuses what nothing is called: no scenario of the program, and no file here or beside the host file.
func checkScenario(key *yamlfile.Node, name, dir string) {
	if name == "" || slices.Contains(scenarios.Names(), name) {
		return
	}
	for _, folder := range []string{dir, filepath.Join(dir, "scenarios"), "."} {
		for _, ext := range []string{".yaml", ".yml"} {
			if _, err := os.Stat(filepath.Join(folder, name+ext)); err == nil {
				return
			}
		}
	}
	key.Problem("there is no scenario %q, and no %s.yaml beside this file; %s",
		name, name, cmp.Or(text.DidYouMean(name, scenarios.Names()), "leakbench list scenarios shows them"))
}

// packageForm is a name as the package managers have them, with extras of pip. What begins with a dash is an option to
// them, and what has a colon or a plus is fetched from elsewhere.
var packageForm = regexp.MustCompile(`^@?[A-Za-z0-9][A-Za-z0-9._~-]*(/[A-Za-z0-9][A-Za-z0-9._~-]*)*(\[[A-Za-z0-9,._-]+\])?$`)

var scopedPackage = regexp.MustCompile(`^@[^/]+/[^/]+$`)

func checkPackage(m *yamlfile.Node, in *subject.Install) {
	switch at := m.Find("package"); {
	case in.Package == "":
	case !packageForm.MatchString(in.Package):
		at.Problem("%q is not the name of a package", yamlfile.Clip(in.Package))
	case in.Runtime != "go" && strings.Contains(in.Package, "/") && (in.Runtime != "node" || !scopedPackage.MatchString(in.Package)):
		at.Problem("%q is a folder or a repository, not a registry package", yamlfile.Clip(in.Package))
	}
	if strings.HasPrefix(in.Lock, "-") {
		m.Find("lock").Problem("the name of a lock file does not begin with a dash")
	}
}

// checkServer finds a host that gets no server to launch.
func checkServer(m *yamlfile.Node, s subject.Spec) {
	if s.Kind == record.KindDriver || s.Kind == "" || len(s.Argv) == 0 {
		return
	}
	if !isTold(s) && m.Find("command") != nil {
		m.Key("command").Problem("the host does not know what to launch: put %s into the command, or give it a config", subject.Placeholder)
	}
	if s.HTTP != nil && strings.Contains(s.HTTP.URL, "{{label}}") && len(s.Configs) == 0 {
		m.Key("drive").Problem("a URL with {{label}} is for a gateway with several servers, which needs a config")
	}
}

// isTold says that something tells a host what to launch.
func isTold(s subject.Spec) bool {
	names := func(t string) bool { return strings.Contains(t, subject.Placeholder) }
	return slices.ContainsFunc(s.Argv[1:], names) || slices.ContainsFunc(s.Env, names) || len(s.Configs) > 0 ||
		s.HTTP != nil && (s.HTTP.Transport == subject.TransportREST || strings.Contains(s.HTTP.URL, "{{server.command}}"))
}

// Where which placeholders mean something.
var (
	places     = subject.Placeholders
	inURL      = append(slices.Clone(places), "label", "server.command", "server.args")
	inRequest  = append(slices.Clone(places), subject.RequestPlaceholders...)
	inTemplate = append(slices.Clone(places), subject.TemplatePlaceholders...)
)

// placeholder takes anything between double braces that looks like a word.
var placeholder = regexp.MustCompile(`\{\{[ \t]*([A-Za-z_.][A-Za-z0-9_.-]*)[ \t]*\}\}`)

// tight is a text whose placeholders have no blanks inside: people who know other templates write them so.
func tight(src []byte) []byte { return placeholder.ReplaceAll(src, []byte("{{$1}}")) }

// checkPlaceholders finds names that stand for nothing.
func checkPlaceholders(n *yamlfile.Node, s string, known []string) {
	for _, match := range placeholder.FindAllStringSubmatch(s, -1) {
		name := match[1]
		if !slices.Contains(known, name) && !strings.HasPrefix(name, configPrefix) { // of those checkConfigs knows the names
			n.Problem("%s is not a placeholder; %s", match[0], yamlfile.MeantOr(name, known))
		}
	}
}

// configPrefix begins the placeholder of a config that has a name.
const configPrefix = "config."

// checkConfigs finds configs that are one file, and placeholders of configs that are not there.
func checkConfigs(m *yamlfile.Node, all []subject.Config) {
	var names, files []string
	for _, c := range all {
		switch file := c.File(); {
		case c.Name != "" && slices.Contains(names, configPrefix+c.Name):
			m.Key("config").Problem("two configs have the name %s", c.Name)
		case file != "" && slices.Contains(files, file):
			m.Key("config").Problem("two configs have the path %s; give each its own", yamlfile.Clip(file))
		}
		if c.Name != "" {
			names = append(names, configPrefix+c.Name)
		}
		files = append(files, c.File())
	}
	m.EachText(func(n *yamlfile.Node, text string) {
		for _, match := range placeholder.FindAllStringSubmatch(text, -1) {
			if name := match[1]; strings.HasPrefix(name, configPrefix) && !slices.Contains(names, name) {
				n.Problem("%s is not a placeholder: no config has the name %s", match[0], strings.TrimPrefix(name, configPrefix))
			}
		}
	})
}
