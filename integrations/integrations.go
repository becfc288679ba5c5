// Package integrations holds the language kits: for each language the driver library, and the bench inside of tests. It is
// leakbench's own, and no API for other modules.
package integrations

import (
	"embed"
	"io/fs"
)

// Files are the driver libraries: python/leakbench and node/leakbench.
//
//go:embed python/leakbench/__init__.py python/leakbench/driver.py node/leakbench/driver.mjs
var Files embed.FS

// Kit is what leakbench has for one language, in the folder of its name.
type Kit struct {
	// Driver is its driver library: what Files has of it, as paths below that folder. Presets use it, and `leakbench init --driver`
	// writes it beside a driver. A kit that plays no scenarios has none.
	Driver []string
}

// Kits are all kits, by language.
var Kits = map[string]Kit{
	"python": {Driver: []string{"leakbench/__init__.py", "leakbench/driver.py"}},
	"node":   {Driver: []string{"leakbench/driver.mjs"}},
}

// Library is the driver library of a language, by path below a driver's folder.
func Library(language string) (map[string][]byte, error) {
	library := map[string][]byte{}
	for _, file := range Kits[language].Driver {
		content, err := fs.ReadFile(Files, language+"/"+file)
		if err != nil {
			return nil, err
		}
		library[file] = content
	}
	return library, nil
}
