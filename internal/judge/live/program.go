package live

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/text"
)

// runs says what a program runs that is none itself: what its arguments name.
type runs int

const (
	runsItself   runs = iota
	runsNamed         // a script, a package
	runsOthers        // a whole command line
	runsCommands      // a script too, and without one the commands that it reads from its stdin
)

// runners are programs whose first argument that is no flag says more than they do.
var runners = map[string]runs{
	"npx": runsNamed, "npm": runsNamed, "pnpm": runsNamed, "bunx": runsNamed, "bun": runsNamed, "uvx": runsNamed, "uv": runsNamed, "pipx": runsNamed,
	"java": runsNamed, "env": runsOthers, "docker": runsOthers, "podman": runsOthers,
	"node": runsCommands, "nodejs": runsCommands, "deno": runsCommands, "python": runsCommands, "ruby": runsCommands, "perl": runsCommands, "irb": runsCommands,
	"sh": runsCommands, "bash": runsCommands, "dash": runsCommands, "ash": runsCommands, "zsh": runsCommands, "ksh": runsCommands, "fish": runsCommands,
}

// runnerOf is what a program runs, by its name without a folder and a version.
func runnerOf(program string) runs {
	name, _, _ := strings.Cut(path.Base(program), ".")
	return runners[strings.TrimRight(strings.TrimPrefix(name, "-"), "0123456789")] // a login shell has a dash before its name
}

// programText are flags after which a program stands, not the name of one.
var programText = []string{"-c", "-e", "-p", "-lc", "-ec", "-uc", "--eval", "--print"}

// valued are flags of shells and of node that have a value in the next argument.
var valued = []string{"-o", "+o", "-O", "+O", "--rcfile", "--init-file", "-r", "--require", "--import", "--loader", "-W", "-X"}

// readsCommands says that a program reads from its stdin what it has to do: a shell, or the interpreter of a language, that was given no
// script. What a host keeps one for is a task, not a server: the stdin of a server is for messages.
func readsCommands(args []string) bool {
	if len(args) == 0 {
		return false
	}
	program, rest := path.Base(args[0]), args[1:]
	switch runnerOf(program) {
	case runsOthers:
		i := slices.IndexFunc(rest, func(a string) bool { return runnerOf(a) == runsCommands })
		return i >= 0 && readsCommands(rest[i:])
	case runsCommands:
		return !hasScript(rest, strings.HasSuffix(program, "sh"))
	}
	return false
}

// hasScript says that an interpreter with these arguments has got what it runs in one of them.
func hasScript(args []string, shell bool) bool {
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "-" || arg == "-s" && shell:
			return false
		case !strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "+"): // or the text of a program, or the name of a module
			return true
		case slices.Contains(valued, arg):
			i++
		}
	}
	return false
}

// calledServer says that a program is named like a server of this protocol, or the script or package that a runner runs. Other
// arguments say nothing: a path to a project, or the prompt of an agent.
func calledServer(args []string) bool {
	named := func(word string) bool {
		word = strings.ToLower(word)
		return !strings.ContainsAny(word, " \t\n") && (strings.Contains(word, "mcp") || strings.Contains(word, "modelcontextprotocol"))
	}
	if len(args) == 0 {
		return false
	}
	if named(path.Base(args[0])) {
		return true
	}
	if runnerOf(args[0]) == runsItself {
		return false
	}
	words := slices.DeleteFunc(slices.Clone(args[1:]), func(a string) bool { return strings.HasPrefix(a, "-") })
	return slices.ContainsFunc(words[:min(2, len(words))], named)
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
	if runnerOf(label) == runsItself {
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
