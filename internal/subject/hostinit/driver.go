package hostinit

import (
	"bytes"
	"embed"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/hosts"
	"github.com/leakbench/leakbench/integrations"
	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/text"
)

//go:embed skeletons
var skeletons embed.FS

// DriverFile is one file of a driver, with its path below the driver's folder.
type DriverFile struct {
	Path    string
	Content []byte
	Program bool // it is executable
}

// language says what is written for a driver in it.
type language struct {
	name   string
	driver string     // the file that is the user's
	from   string     // in skeletons
	preset string     // whose package the driver is, where no kit has a library
	next   [][]string // commands that the user needs before the driver can be started; %s is the folder, %p the same as a path
	start  string     // what is started, below the folder
}

var languages = []language{
	{
		name: "python", driver: "driver.py", from: "driver.py", start: "driver.py",
		next: [][]string{{"pip", "install", "mcp"}},
	},
	{
		name: "node", driver: "driver.mjs", from: "driver.mjs", start: "driver.mjs",
		next: [][]string{{"npm", "install", "--prefix", "%s", "@modelcontextprotocol/client"}},
	},
	{
		name: "go", driver: "main.go", from: "main.go.txt", start: "driver" + exe,
		next: [][]string{
			{"go", "mod", "init", "my-driver"},                                        // where there is no module yet
			{"go", "mod", "edit", "-replace", "github.com/leakbench/leakbench=CLONE"}, // where leakbench is: nothing is published yet
			{"go", "mod", "tidy"},
			{"go", "build", "-o", "%s/driver" + exe, "%p"},
		},
	},
	{
		name: "rust", driver: "src/main.rs", from: "main.rs", start: "target/debug/leakbench-driver", preset: "rmcp",
		next: [][]string{{"cargo", "build", "--manifest-path", "%s/Cargo.toml"}},
	},
}

// inModule says that this folder is in a Go module.
func inModule() bool {
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil {
			return true
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return false
}

// Languages are those that a driver can be written in.
func Languages() (names []string) {
	for _, l := range languages {
		names = append(names, l.name)
	}
	return names
}

// Driver returns the files of a driver in a language, the user's own first, and the commands that play a run with it once
// they are in a folder.
func Driver(name, folder string) (files []DriverFile, commands []string, err error) {
	i := slices.IndexFunc(languages, func(l language) bool { return l.name == name })
	if i < 0 {
		return nil, nil, fmt.Errorf("no driver in %q; choose one of %s", name, strings.Join(Languages(), ", "))
	}
	l := languages[i]
	own, err := skeletons.ReadFile(path.Join("skeletons", l.from))
	if err != nil {
		return nil, nil, err
	}
	files = []DriverFile{{Path: l.driver, Content: own, Program: l.start == l.driver}}
	library, err := l.library()
	if err != nil {
		return nil, nil, err
	}
	for to, content := range library {
		files = append(files, DriverFile{Path: to, Content: content})
	}
	slices.SortFunc(files[1:], func(a, b DriverFile) int { return strings.Compare(a.Path, b.Path) })
	for _, command := range l.next {
		if slices.Contains(command, "init") && inModule() {
			continue
		}
		words := lists.Map(command, func(word string) string { return strings.NewReplacer("%s", folder, "%p", atPath(folder)).Replace(word) })
		commands = append(commands, text.Command(words))
	}
	return files, append(commands, text.Command([]string{"leakbench", "run", "storm", "--host", atPath(path.Join(folder, l.start))})), nil
}

// library is what the user's own file stands on, by path below the folder.
func (l *language) library() (map[string][]byte, error) {
	library, err := integrations.Library(l.name)
	if l.preset == "" || err != nil {
		return library, err
	}
	for _, file := range []string{"src/driver.rs", "Cargo.toml", "Cargo.lock"} {
		content, err := hosts.Files.ReadFile(path.Join(l.preset, file))
		if err != nil {
			return nil, err
		}
		library[file] = bytes.ReplaceAll(content, []byte("leakbench-"+l.preset), []byte("leakbench-driver"))
	}
	return library, nil
}

// atPath is a path that is not taken for the name of a host.
func atPath(p string) string {
	if strings.HasPrefix(p, "/") || strings.HasPrefix(p, ".") || filepath.IsAbs(p) {
		return p
	}
	return "./" + p
}
