// Package hosts is the hosts that leakbench knows how to put on the bench: for
// each a folder with its host file, what pins its packages, and its driver
// where it has one.
package hosts

import "embed"

// Files are those of all presets: NAME/host.yaml and what stands beside it.
//
//go:embed */host.yaml */package.json */package-lock.json */requirements.txt
var Files embed.FS
