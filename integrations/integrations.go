// Package integrations holds the libraries for other languages. The presets of hosts use their driver libraries, and
// `leakbench init --driver` writes them beside a driver. It is leakbench's own, and no API for other modules.
package integrations

import "embed"

// Files are the driver libraries: python/leakbench and node/leakbench.
//
//go:embed python/leakbench/__init__.py python/leakbench/driver.py node/leakbench/driver.mjs
var Files embed.FS
