// Package hostinit writes a first host file for somebody's own host: from what
// he answers, and from a configuration that is there already.
package hostinit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/leakbench/leakbench/internal/subject/hostconfig"
	"github.com/leakbench/leakbench/internal/text"
)

// Config is a configuration that names MCP servers.
type Config struct {
	Path string
	hostconfig.Found
}

// maxConfig is how much of a file is read, in bytes: one more than what is accepted, so that a longer one is refused.
const maxConfig = 1<<20 + 1

// ReadConfig reads a configuration in any of the known formats.
func ReadConfig(path string) (Config, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Config{}, err
	}
	if !info.Mode().IsRegular() || info.Size() >= maxConfig {
		return Config{}, fmt.Errorf("%s is not a configuration file", path)
	}
	src, err := os.ReadFile(path)
	if err != nil {
		return Config{}, err
	}
	found, err := hostconfig.Recognize(path, text.Decoded(src))
	return Config{Path: path, Found: found}, err
}

// Look finds configurations in the usual places: below dir first, then below home. What can't be read is none.
func Look(dir, home string) []Config {
	var near, far []Config
	seen := map[string]bool{}
	for _, f := range hostconfig.Formats {
		for _, usual := range f.Usual {
			path, below := filepath.Join(dir, filepath.FromSlash(usual)), &near
			if rest, ok := strings.CutPrefix(usual, "~/"); ok {
				path, below = filepath.Join(home, filepath.FromSlash(rest)), &far
			}
			if seen[path] {
				continue
			}
			seen[path] = true
			if c, err := ReadConfig(path); err == nil {
				*below = append(*below, c)
			}
		}
	}
	return append(near, far...)
}

// ErrNoAnswer says that the answers ended before the questions did.
var ErrNoAnswer = errors.New("no answer")

// Configs is the one that was named, or those that are found.
func Configs(from string) ([]Config, error) {
	if from == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			home = "."
		}
		return Look(".", home), nil
	}
	c, err := ReadConfig(from)
	return []Config{c}, err
}

// maxName is how long the name of a host may be.
const maxName = 40

// NameFrom is the name of a host that its file's name speaks for.
func NameFrom(path string) string {
	base := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	if base == "host" {
		base = "my-host"
	}
	words := strings.FieldsFunc(strings.ToLower(base), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	name := strings.Join(words, "-")
	name = strings.Trim(name[:min(len(name), maxName)], "-")
	if name == "" {
		return "my-host"
	}
	return name
}
