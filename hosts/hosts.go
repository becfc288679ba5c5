// Package hosts is the hosts that leakbench knows how to put on the bench: for each a folder with its host file, what
// pins its packages, and its driver where it has one. It is leakbench's own, and no API for other modules.
package hosts

import (
	"embed"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/integrations"
)

// Files are those of all presets: NAME/host.yaml and what stands beside it,
// and lib/RUNTIME/, which all presets of a runtime share.
//
//go:embed */host.yaml */package.json */package-lock.json */requirements.txt
//go:embed */driver.py */driver.mjs lib/*/*.py lib/*/*.mjs
//go:embed */Cargo.toml */Cargo.lock */build.rs */src/*.rs
var Files embed.FS

// Of is what belongs to a preset: its folder, the packages of the preset that it is like, what its runtime's presets share, and
// the driver library of that language in the folder leakbench, as one folder. like and runtime may be "".
func Of(name, like, runtime string) (fs.FS, error) {
	own, err := fs.Sub(Files, name)
	if err != nil {
		return nil, err
	}
	all := layers{own}
	if like != "" {
		theirs, err := Packages(like)
		if err != nil {
			return nil, err
		}
		all = append(all, theirs)
	}
	if _, err := fs.Stat(Files, "lib/"+runtime); runtime == "" || err != nil {
		return all, nil
	}
	shared, err := fs.Sub(Files, "lib/"+runtime)
	library, missing := fs.Sub(integrations.Files, runtime)
	return append(all, shared, library), errors.Join(err, missing)
}

// HostFile is the name of the host file in a preset's folder.
const HostFile = "host.yaml"

// Packages is what the packages of a preset are installed from: its folder without its host file and its driver.
func Packages(name string) (fs.FS, error) {
	dir, err := fs.Sub(Files, name)
	return packages{dir}, err
}

// packages is a folder whose list leaves out how the host is driven.
type packages struct{ fs.FS }

// ReadDir lists the folder.
func (p packages) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(p.FS, name)
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		return name == "." && (e.Name() == HostFile || strings.HasPrefix(e.Name(), "driver."))
	}), err
}

// layers are folders on top of each other.
type layers []fs.FS

// Open opens a file of the first folder that has it.
func (l layers) Open(name string) (f fs.File, err error) {
	for _, layer := range l {
		if f, err = layer.Open(name); err == nil {
			break
		}
	}
	return f, err
}

// ReadDir lists a folder of all layers.
func (l layers) ReadDir(name string) ([]fs.DirEntry, error) {
	var all []fs.DirEntry
	err := error(&fs.PathError{Op: "readdir", Path: name, Err: fs.ErrNotExist})
	for _, layer := range l {
		if entries, missing := fs.ReadDir(layer, name); missing == nil {
			all, err = append(all, entries...), nil
		}
	}
	slices.SortStableFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return slices.CompactFunc(all, func(a, b fs.DirEntry) bool { return a.Name() == b.Name() }), err
}
