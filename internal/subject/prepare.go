package subject

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/files"
	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/subject/hostconfig"
)

// Placeholders are the names that stand for something in the texts of a host file, between double braces.
var Placeholders = []string{"server", "config", "run", "dir", "install", "port", "version", "self", "tmp"}

// TemplatePlaceholders are those that only the template of a config has.
var TemplatePlaceholders = []string{"server.command", "server.args", "server.name"}

// LabelPlaceholder is for the URL of a gateway that holds several servers.
const LabelPlaceholder = "{{label}}"

// Setting is what a run gives its host.
type Setting struct {
	Self    string          // the program that is also the fake server
	Run     string          // folder for the host alone; absolute, made
	Tmp     string          // short path of a folder for sockets; Prepare makes it where the file mentions it
	Again   bool            // not the first time of this run: a config that is there is its own
	Servers []driver.Server // {{server}} is the first
}

// Prepared is a Spec with nothing left to fill in.
type Prepared struct {
	Argv    []string
	Env     []string // on top of the bench's own
	Workdir string
	Ready   Ready
	URL     string // of a gateway; may hold LabelPlaceholder
	Asks    Requests
}

// Prepare fills the placeholders and writes the config file.
func (s Spec) Prepare(in Setting) (Prepared, error) {
	if err := s.unpack(); err != nil {
		return Prepared{}, err
	}
	f := filler{server: argv(in.Servers), words: map[string]string{
		"run": in.Run, "dir": s.Dir, "install": s.InstallDir, "version": s.Version, "self": in.Self, "tmp": in.Tmp,
	}}
	if s.mentions("tmp") {
		if err := os.MkdirAll(in.Tmp, 0o700); err != nil {
			return Prepared{}, err
		}
	}
	if s.mentions("port") {
		port, err := freePort()
		if err != nil {
			return Prepared{}, err
		}
		f.words["port"] = strconv.Itoa(port)
	}
	if err := s.configure(in, &f); err != nil {
		return Prepared{}, err
	}
	p := Prepared{Workdir: f.text(s.Workdir), Ready: s.Ready}
	if info, err := os.Stat(p.Workdir); p.Workdir != "" && (err != nil || !info.IsDir()) { // exec(3) would blame the program
		return Prepared{}, fmt.Errorf("the host's workdir %s is no folder", p.Workdir)
	}
	argv := f.argv(s.Argv)
	p.Argv, p.Env = startedAs(argv[0])
	p.Argv = append(p.Argv, argv[1:]...)
	for _, v := range s.Env {
		p.Env = append(p.Env, f.text(v))
	}
	p.Ready.HTTP = f.text(s.Ready.HTTP)
	if s.HTTP != nil {
		p.URL, p.Asks = f.text(s.HTTP.URL), f.requests(s.HTTP.Requests)
	}
	return p, nil
}

func (f *filler) requests(all Requests) Requests {
	fill := func(list []Request) []Request {
		return lists.Map(list, func(r Request) Request {
			body, _ := f.deep(r.Body).(map[string]any)
			return Request{Method: r.Method, Path: f.plain(r.Path), Body: body}
		})
	}
	return Requests{Open: fill(all.Open), Call: fill(all.Call), Close: fill(all.Close)}
}

// unpack writes what stands beside a preset's file to its folder, where it differs: a newer program has newer drivers.
func (s Spec) unpack() error {
	if s.Files == nil || !s.mentions("dir") {
		return nil
	}
	return fs.WalkDir(s.Files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(s.Files, path)
		if err != nil {
			return err
		}
		return writeWhole(filepath.Join(s.Dir, filepath.FromSlash(path)), text)
	})
}

// writeWhole replaces a file, if it says something else, in one step: runs go side by side.
func writeWhole(path string, text []byte) error {
	if info, err := os.Stat(path); err == nil && info.Size() == int64(len(text)) {
		if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, text) {
			return nil
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return files.Program(path, text)
}

func argv(servers []driver.Server) []string {
	if len(servers) == 0 {
		return nil
	}
	return append([]string{servers[0].Command}, servers[0].Args...)
}

// mentions says that some text of the file has a placeholder.
func (s Spec) mentions(name string) bool {
	all := append(append([]string{s.Workdir, s.Ready.HTTP}, s.Argv...), s.Env...)
	if s.HTTP != nil {
		asks, _ := json.Marshal(s.HTTP.Requests)
		all = append(all, s.HTTP.URL, string(asks))
	}
	for _, c := range s.Configs {
		merged, _ := json.Marshal([]any{c.Merge, c.Entry})
		all = append(all, c.Path, c.Template, string(merged))
	}
	return strings.Contains(strings.Join(all, "\n"), "{{"+name+"}}")
}

// freePort is a loopback port that nobody listens on right now.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("no free port: %w", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// configure writes the config files. A file may name any other, so that all paths are known first.
func (s Spec) configure(in Setting, f *filler) error {
	var paths []string
	for i, c := range s.Configs {
		path := f.text(c.File())
		if !filepath.IsAbs(path) {
			path = filepath.Join(in.Run, path)
		}
		if i == 0 {
			f.words["config"] = path
		}
		if c.Name != "" {
			f.words["config."+c.Name] = path
		}
		paths = append(paths, path)
	}
	for i, c := range s.Configs {
		if err := c.write(paths[i], in, f); err != nil {
			return err
		}
	}
	return nil
}

// File is the path as the host file has it, or the usual name of the format.
func (c Config) File() string {
	if format, known := hostconfig.Named(c.Format); known && c.Path == "" {
		return format.File()
	}
	return c.Path
}

func (c Config) write(path string, in Setting, f *filler) error {
	text := []byte(f.template(c.Template, in.Servers))
	if format, known := hostconfig.Named(c.Format); known {
		var err error
		if text, err = format.Render(hostconfig.Params{
			Servers: in.Servers, Merge: f.deep(c.Merge).(map[string]any), Entry: f.deep(c.Entry).(map[string]any),
		}); err != nil {
			return fmt.Errorf("failed to render the config: %w", err)
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("failed to write the config: %w", err)
	}
	// What stands there already is the user's.
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if in.Again {
		flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	file, err := os.OpenFile(path, flags, 0o600)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("the config %s exists already: leakbench overwrites no file (leave path out, or put it below {{run}})", path)
	}
	if err != nil {
		return fmt.Errorf("failed to write the config: %w", err)
	}
	_, err = file.Write(text)
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("failed to write the config: %w", err)
	}
	return nil
}

// filler fills placeholders.
type filler struct {
	server []string
	words  map[string]string
}

func (f *filler) argv(args []string) []string {
	args = Expand(args, f.server)
	for i := range args {
		args[i] = f.plain(args[i])
	}
	return args
}

func (f *filler) text(s string) string {
	return f.plain(strings.ReplaceAll(s, Placeholder, CommandLine(f.server)))
}

// plain fills what stands for one word.
func (f *filler) plain(s string) string {
	if !strings.Contains(s, "{{") {
		return s
	}
	var pairs []string
	for name, word := range f.words {
		pairs = append(pairs, "{{"+name+"}}", word)
	}
	return strings.NewReplacer(pairs...).Replace(s)
}

// template is the text of a config. JSON's texts and lists are YAML's and TOML's, too.
func (f *filler) template(s string, servers []driver.Server) string {
	if len(servers) > 0 {
		args := servers[0].Args
		if args == nil {
			args = []string{}
		}
		s = strings.NewReplacer("{{server.command}}", hostconfig.Literal(servers[0].Command),
			"{{server.args}}", hostconfig.Literal(args), "{{server.name}}", servers[0].Name).Replace(s)
	}
	return f.text(s)
}

// deep fills the texts of a value.
func (f *filler) deep(v any) any {
	switch v := v.(type) {
	case string:
		return f.text(v)
	case map[string]any:
		out := map[string]any{}
		for k, inner := range v {
			out[k] = f.deep(inner)
		}
		return out
	case []any:
		return lists.Map(v, f.deep)
	}
	return v
}
