package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject/catalogue"
	"github.com/leakbench/leakbench/internal/text"
)

// Builtin lists the hosts that are part of the program; self is its path.
func Builtin(self string) []Spec { return lists.Map(catalogue.Hosts, specBy(self)) }

// Mutants lists the hosts that break one law each; self is the program's path.
func Mutants(self string) []Spec { return lists.Map(catalogue.Mutants, specBy(self)) }

func specBy(self string) func(catalogue.Host) Spec {
	return func(h catalogue.Host) Spec {
		return Spec{Name: h.Name, About: h.About, Kind: record.KindDriver, Argv: []string{self, "host", h.Name}, Profile: record.Profile(h.Profile)}
	}
}

// Lookup returns the built-in host of that name, or an error that names the
// one that was probably meant. A name with a path separator is the path of a
// program that is a driver.
func Lookup(self, name string) (Spec, error) {
	if strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator) {
		return program(name)
	}
	if h, ok := catalogue.Named(name); ok {
		return specBy(self)(h), nil
	}
	names := lists.Map(catalogue.Hosts, func(h catalogue.Host) string { return h.Name })
	if hint := text.DidYouMean(name, names); hint != "" {
		return Spec{}, fmt.Errorf("no host %q; %s", name, hint)
	}
	return Spec{}, fmt.Errorf("no host %q; there are %s, and drivers by their path (./my-driver)", name, strings.Join(names, ", "))
}

// program is a driver of somebody else's.
func program(path string) (Spec, error) {
	given := path
	path, err := filepath.Abs(path)
	if err == nil {
		path, err = exec.LookPath(path) // also says whether it may be executed
	}
	if errors.Is(err, fs.ErrNotExist) {
		return Spec{}, fmt.Errorf("no driver %q: %w", given, fs.ErrNotExist)
	}
	if err != nil {
		return Spec{}, fmt.Errorf("%q can't be started as a driver: %w", given, err)
	}
	return Spec{
		Name: filepath.Base(path), About: "a driver program (docs/driver-protocol.md)",
		Kind: record.KindDriver, Argv: []string{path}, Profile: unknownProfile(),
	}, nil
}
