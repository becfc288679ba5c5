// Package shelf says which published hosts there are, in which versions, and which of them are installed.
package shelf

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/subject"
	"github.com/leakbench/leakbench/internal/subject/hostfile"
	"github.com/leakbench/leakbench/internal/subject/install"
)

// Item is a row of the list of hosts.
type Item struct {
	Name      string   `json:"name"`
	Text      string   `json:"text"`
	Version   string   `json:"version,omitempty"`   // that of the lock file
	Versions  []string `json:"versions,omitempty"`  // others that NAME@VERSION may pick
	Installed []string `json:"installed,omitempty"` // versions that are
	Stale     bool     `json:"stale,omitempty"`     // one of these is not what this program would install now
	BuiltIn   bool     `json:"built_in,omitempty"`  // needs no installation
}

// Of is the row of a host. Nothing is installed where there is no folder for it.
func Of(s subject.Spec) (Item, error) {
	item := Item{Name: s.Name, Text: s.About, BuiltIn: s.Install == nil}
	if item.BuiltIn {
		return item, nil
	}
	item.Version, item.Versions = s.Install.Version, s.Install.Versions
	for _, version := range append([]string{item.Version}, item.Versions...) {
		other, err := hostfile.Preset(s.Name, version)
		if errors.Is(err, hostfile.ErrNoFolder) {
			return item, nil
		}
		if err != nil {
			return item, err
		}
		if install.Installed(other.InstallDir) {
			item.Installed = append(item.Installed, version)
			item.Stale = item.Stale || !Params(other).Fresh()
		}
	}
	return item, nil
}

// State is what a person wants to know: whether it can be run right now.
func (it Item) State() string {
	switch {
	case it.BuiltIn:
		return "built in"
	case len(it.Installed) == 0:
		return "not installed"
	case it.Stale:
		return "stale: install it again"
	case len(it.Installed) == 1 && it.Installed[0] == it.Version:
		return "installed"
	}
	return "installed: " + strings.Join(it.Installed, ", ")
}

// Names are the presets that have something to install.
func Names() []string {
	return slices.DeleteFunc(hostfile.Presets(), func(name string) bool {
		s, err := hostfile.Preset(name, "")
		return err != nil || s.Install == nil
	})
}

// Params are what installs a host.
func Params(s subject.Spec) install.Params {
	return install.Params{
		Name: s.Name, Runtime: s.Install.Runtime, Package: s.Install.Package, Version: s.Version, Pinned: s.Install.Version,
		Lock: s.Install.Lock, Files: s.Install.Files, Dir: s.InstallDir,
	}
}

// Megabytes is what a folder's files take. One that goes meanwhile takes none.
func Megabytes(dir string) (total int64) {
	_ = filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			if info, gone := d.Info(); gone == nil {
				total += info.Size()
			}
		}
		return err
	})
	return total >> 20
}

// All are the built-in hosts, then the presets, whether or not there is a folder for their packages.
func All() ([]subject.Spec, error) {
	specs := subject.Builtin("leakbench")
	for _, name := range hostfile.Presets() {
		s, err := hostfile.Preset(name, "")
		if err != nil && !errors.Is(err, hostfile.ErrNoFolder) {
			return nil, err
		}
		specs = append(specs, s)
	}
	return specs, nil
}
