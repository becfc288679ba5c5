package attach

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/text"
)

// runner is a program that runs what its arguments name.
type runner struct {
	// valued are flags that have a value in the next argument.
	valued []string
	// words stand before what is named: npm exec, deno run.
	words []string
	// packages says that what is named is a package, or a command line.
	packages bool
	// image says that behind the word a container is named, and then the command line that it runs.
	image bool
	// commands says that it reads commands from its stdin where nothing is named.
	commands bool
	// text are flags after which a program stands, not the name of one, or that have it glued to them.
	text *regexp.Regexp
	// module are such flags for the name of a module, glued or not.
	module *regexp.Regexp
}

var (
	shell = &runner{
		commands: true, valued: []string{"-o", "+o", "-O", "+O", "--rcfile", "--init-file"},
		text: regexp.MustCompile(`^-[a-zA-Z]*c[a-zA-Z]*$`),
	}
	python = &runner{
		commands: true, valued: []string{"-W", "-X"},
		text: regexp.MustCompile(`^-[bBdEhiIOPqsSuvVx]*c.*$`), module: regexp.MustCompile(`^-[bBdEhiIOPqsSuvVx]*m(.*)$`),
	}
	node = &runner{
		commands: true,
		valued:   []string{"-r", "--require", "--import", "--loader", "--experimental-loader", "-C", "--conditions"},
		text:     regexp.MustCompile(`^(?:-e|-p|-pe|--(?:eval|print|run)(?:=.*)?)$`),
	}
	deno = &runner{commands: true, words: []string{"run"}, text: regexp.MustCompile(`^eval$`)}
	perl = &runner{
		commands: true, valued: []string{"-I", "-r"},
		text: regexp.MustCompile(`^-[acflnpstuwWX0-9]*[eE].*$`),
	}
	packages = &runner{
		packages: true, words: []string{"run", "exec", "x", "dlx", "tool"},
		valued: []string{
			"--directory", "--prefix", "-C", "--cwd", "--project", "--with", "--from", "--spec", "-p", "--package", "--python",
			"-c", "--call", "-w", "--workspace", "-F", "--filter", "--env-file",
		},
	}
	containers = &runner{
		image: true, words: []string{"run", "exec"},
		valued: []string{
			"-e", "--env", "--env-file", "-v", "--volume", "--mount", "--name", "--network", "--net", "-p", "--publish",
			"-w", "--workdir", "-u", "--user", "-l", "--label", "--platform", "--pull", "-h", "--hostname", "-m", "--memory",
			"--cpus", "--add-host", "--gpus", "--restart", "--security-opt", "--cap-add", "--cap-drop", "--ulimit", "--tmpfs",
			"--device", "--shm-size", "--pid", "--ipc", "--userns", "--dns", "--log-driver", "--runtime",
		},
	}
	java = &runner{valued: []string{"-cp", "-classpath", "--class-path", "-p", "--module-path", "--add-modules"}}
	env  = &runner{valued: []string{"-u", "--unset", "-C", "--chdir"}}
)

// runners are programs whose first argument that is no flag says more than they do.
var runners = map[string]*runner{
	"npx": packages, "npm": packages, "pnpm": packages, "bunx": packages, "bun": packages, "uvx": packages, "uv": packages, "pipx": packages,
	"java": java, "env": env, "docker": containers, "podman": containers,
	"node": node, "nodejs": node, "deno": deno, "tsx": node, "ts-node": node, "python": python, "ruby": perl, "perl": perl, "irb": perl,
	"sh": shell, "bash": shell, "dash": shell, "ash": shell, "zsh": shell, "ksh": shell, "fish": shell,
}

// runnerOf is the runner that a program is, by its name without a folder and a version, or nil.
func runnerOf(program string) *runner {
	base, _, _ := strings.Cut(path.Base(program), ".")
	return runners[strings.TrimRight(strings.TrimPrefix(base, "-"), "0123456789")] // a login shell has a dash before its name
}

// programText are flags after which a program stands, in a label.
var programText = []string{"-c", "-e", "-p", "-lc", "-ec", "-uc", "--eval", "--print"}

// readsCommands says that a program reads from its stdin what it has to do: a shell, or the interpreter of a language, that was given no
// script. What a host keeps one for is a task, not a server: the stdin of a server is for messages.
func readsCommands(args []string) bool {
	if len(args) == 0 {
		return false
	}
	switch r := runnerOf(args[0]); {
	case r == nil:
		return false
	case r == env:
		return readsCommands(r.behind(args[1:]))
	case r.image:
		image, command := r.container(args[1:])
		if len(command) == 0 && !strings.Contains(strings.TrimPrefix(strings.TrimPrefix(image, "docker.io/"), "library/"), "/") {
			program, _, _ := strings.Cut(path.Base(image), ":") // an official image is called what it runs; others are called what they like
			command = []string{program}
		}
		return readsCommands(command)
	case r.commands:
		_, given := r.script(args[1:])
		return !given
	}
	return false
}

// behind are the arguments from the first one on that is no flag, no value of one, no word of the runner and nothing that env sets.
func (r *runner) behind(args []string) []string {
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case slices.Contains(r.valued, arg):
			i++
		case strings.HasPrefix(arg, "-") || strings.HasPrefix(arg, "+") && r == shell || slices.Contains(r.words, arg) ||
			r == env && strings.Contains(arg, "="):
		default:
			return args[i:]
		}
	}
	return nil
}

// container is the image of a container that is run, none where it runs what it is told to, and the command line for it.
func (r *runner) container(args []string) (image string, command []string) {
	at := slices.IndexFunc(args, func(a string) bool { return slices.Contains(r.words, a) })
	if at < 0 {
		return "", nil
	}
	rest := args[at+1:]
	if rest = r.behind(rest); len(rest) == 0 {
		return "", nil
	}
	if args[at] == "run" {
		image = rest[0]
	}
	return image, rest[1:]
}

// script is the script, the module or the class that an interpreter runs, "" where that is the text of a program; given is false where it
// has got nothing to run.
func (r *runner) script(args []string) (called string, given bool) {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "-" || arg == "-s" && r == shell {
			return "", false
		}
		if r.text != nil && r.text.MatchString(arg) {
			return "", true
		}
		if r.module != nil {
			if m := r.module.FindStringSubmatch(arg); m != nil {
				return cmp.Or(m[1], strings.Join(args[i+1:min(i+2, len(args))], "")), true
			}
		}
		if slices.Contains(r.valued, arg) {
			i++
		} else if len(r.behind(args[i:i+1])) > 0 {
			return arg, true
		}
	}
	return "", false
}

// named says that a word names a server of this protocol.
func named(word string) bool {
	word = strings.ToLower(word)
	return !strings.ContainsAny(word, " \t\n") && (strings.Contains(word, "mcp") || strings.Contains(word, "modelcontextprotocol"))
}

// packageOf is what the file of a script is called, or the package that it was installed with.
func packageOf(script string) string {
	const installed = "/node_modules/"
	if i := strings.LastIndex(script, installed); i >= 0 {
		parts := strings.SplitN(script[i+len(installed):], "/", 3)
		if strings.HasPrefix(parts[0], "@") && len(parts) > 1 {
			return parts[0] + "/" + parts[1]
		}
		if parts[0] != ".bin" {
			return parts[0]
		}
	}
	if strings.HasPrefix(script, "@") { // npm's packages have a scope
		return script
	}
	return path.Base(script)
}

// calledServer says that a program is named like a server of this protocol, or the script, the package or the image that a runner runs.
// Nothing else says anything: a path to a project, what a script is told, or the prompt of an agent.
func calledServer(args []string) bool {
	if len(args) == 0 {
		return false
	}
	r := runnerOf(args[0])
	switch {
	case named(path.Base(args[0])):
		return true
	case r == nil:
		return false
	case r == env:
		return calledServer(r.behind(args[1:]))
	case r.image:
		image, command := r.container(args[1:])
		return named(image) || calledServer(command)
	case r.packages:
		rest := r.behind(args[1:])
		return len(rest) > 0 && named(packageOf(rest[0])) || calledServer(rest)
	}
	script, _ := r.script(args[1:])
	return named(packageOf(script))
}

const maxLabel = 40

// labelOf is a short name for a command line, fit to be shown: the same for each launch of it, without what is only of one machine.
func labelOf(args []string, comm string) string {
	if len(args) == 0 {
		return prose.Plain(cmp.Or(comm, "?"))
	}
	return prose.Plain(programOf(args))
}

func programOf(args []string) string {
	label := path.Base(args[0])
	if runnerOf(label) == nil {
		return label
	}
	for _, arg := range args[1:] {
		switch {
		case slices.Contains(programText, arg): // what follows is a program, not the name of one
			return label + " " + arg
		case arg == "" || strings.HasPrefix(arg, "-") || strings.Contains(arg, "="): // flags, and what env sets
		default:
			return label + " " + text.Clip(path.Base(arg), maxLabel, "…")
		}
	}
	return label
}
