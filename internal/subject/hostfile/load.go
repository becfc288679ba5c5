// Package hostfile reads host files: a host that can be put on the bench, as
// YAML. docs/host-file.md is the same for people who write one.
package hostfile

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/leakbench/leakbench/internal/subject/host"
	"github.com/leakbench/leakbench/internal/yamlfile"
)

// format is what messages call a host file.
var format = yamlfile.KindOfFile{Noun: "host", Doc: "docs/host-file.md", Instead: "write it out"}

// Load reads a host file. What is wrong with its text is a yamlfile.Errors.
func Load(path string) (host.Spec, error) {
	f, err := os.Open(path)
	if err != nil {
		return host.Spec{}, fmt.Errorf("failed to read the host file: %w", err)
	}
	defer f.Close()
	src, err := yamlfile.Source(f)
	if err != nil {
		return host.Spec{}, fmt.Errorf("failed to read the host file: %w", err)
	}
	spec, err := Parse(path, src)
	if err != nil {
		return spec, err
	}
	if spec.Dir, err = filepath.Abs(filepath.Dir(path)); err != nil {
		return spec, err
	}
	spec.Given = path
	if spec.Install != nil {
		spec.InstallDir, err = InstallDir(spec.Name, spec.Install.Version)
	}
	return spec, err
}

// Parse reads the text of a host file; file is what messages call it. The
// error is a yamlfile.Errors with all that is wrong.
func Parse(file string, src []byte) (host.Spec, error) {
	var spec host.Spec
	if err := yamlfile.Parse(file, src, format, func(root *yamlfile.Node) { spec = read(root) }); err != nil {
		return host.Spec{}, err
	}
	spec.File = file
	if spec.Install != nil {
		spec.Version = spec.Install.Version
	}
	return spec, nil
}
