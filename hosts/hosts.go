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

// Of is what belongs to a preset: its folder, what its runtime's presets share, and the driver library of that language in the
// folder leakbench, as one folder. runtime may be "".
func Of(name, runtime string) (fs.FS, error) {
	own, err := fs.Sub(Files, name)
	if err != nil {
		return nil, err
	}
	if _, err := fs.Stat(Files, "lib/"+runtime); runtime == "" || err != nil {
		return own, nil
	}
	shared, err := fs.Sub(Files, "lib/"+runtime)
	library, missing := fs.Sub(integrations.Files, runtime)
	return layers{own, shared, library}, errors.Join(err, missing)
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
