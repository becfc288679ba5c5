package hostfile

import (
	"io/fs"

	"github.com/leakbench/leakbench/internal/yamlfile"
)

// CheckLike reads the key like of a host file that is among these presets.
func CheckLike(presets fs.FS, src, name string) error {
	return yamlfile.Parse("x.yaml", []byte(src), format, func(root *yamlfile.Node) { installOf(presets, root.Find("like"), name) })
}
