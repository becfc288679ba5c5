// Package hostfile reads host files: a host that can be put on the bench, as
// YAML. docs/use/host-file.md is the same for people who write one.
package hostfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/hosts"
	"github.com/leakbench/leakbench/internal/files"
	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/subject"
	"github.com/leakbench/leakbench/internal/yamlfile"
)

// format is what messages call a host file.
var format = yamlfile.KindOfFile{Noun: "host", Doc: "docs/use/host-file.md", Instead: "write it out", Marks: []string{"command", "drive"}}

// Load reads a host file. What is wrong with its text is a yamlfile.Errors.
func Load(path string) (subject.Spec, error) {
	f, err := files.Open(path)
	if err != nil {
		return subject.Spec{}, fmt.Errorf("failed to read the host file: %w", err)
	}
	defer f.Close()
	src, err := yamlfile.Source(f)
	if err != nil {
		return subject.Spec{}, fmt.Errorf("failed to read the host file: %w", err)
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

// Parse reads the text of a host file; file is what messages call it. The error is a yamlfile.Errors with all that is wrong.
func Parse(file string, src []byte) (subject.Spec, error) {
	var spec subject.Spec
	if err := yamlfile.Parse(file, tight(src), format, func(root *yamlfile.Node) { spec = read(root, filepath.Dir(file)) }); err != nil {
		return subject.Spec{}, err
	}
	spec.File = file
	if spec.Install != nil {
		spec.Version = spec.Install.Version
	}
	return spec, nil
}

// Presets are the names of the host files that are part of the program.
func Presets() []string {
	paths, _ := fs.Glob(hosts.Files, "*/"+hosts.HostFile) // the pattern is right
	return lists.Map(paths, func(path string) string { return strings.TrimSuffix(path, "/"+hosts.HostFile) })
}

// Preset is the preset of that name. A version other than "" must be the one that its file has, or one of those that it lists.
func Preset(name, version string) (subject.Spec, error) { return preset(name, version, pick) }

// At is the preset of that name in any version that its package's registry may have.
func At(name, version string) (subject.Spec, error) {
	return preset(name, version, func(s *subject.Spec, version string) error {
		if s.Install == nil {
			return fmt.Errorf("the host %s has no versions to choose from", s.Name)
		}
		s.Version, s.Given = version, s.Name+"@"+version
		return nil
	})
}

func preset(name, version string, pick func(*subject.Spec, string) error) (subject.Spec, error) {
	src, err := hosts.Files.ReadFile(name + "/" + hosts.HostFile)
	if err != nil {
		return subject.Spec{}, fmt.Errorf("no host %q", name)
	}
	s, err := Parse(name+"/"+hosts.HostFile, src)
	if err != nil {
		return s, err
	}
	like, runtime := "", ""
	if s.Install != nil {
		like, runtime = s.Install.Like, s.Install.Runtime
	}
	if s.Files, err = hosts.Of(name, like, runtime); err != nil {
		return s, err
	}
	s.Given = s.Name
	if version != "" {
		if err := pick(&s, version); err != nil {
			return s, err
		}
	}
	if s.Install != nil {
		s.Install.Files = s.Files
		s.InstallDir, err = InstallDir(s.Name, s.Version)
		s.Dir = s.InstallDir
	}
	return s, err
}

// pick takes another version of a preset.
func pick(s *subject.Spec, version string) error {
	if s.Install == nil {
		return fmt.Errorf("the host %s has no versions to choose from", s.Name)
	}
	all := append([]string{s.Install.Version}, s.Install.Versions...)
	if !slices.Contains(all, version) {
		return fmt.Errorf("the host %s has the versions %s, not %q", s.Name, strings.Join(all, ", "), version)
	}
	s.Version, s.Given = version, s.Name+"@"+version
	return nil
}

// Lookup is the host that a user names: one that is part of the program, by name; a host file, by a path that ends in
// .yaml; or a driver program, by any other path. The error of a file is a yamlfile.Errors.
func Lookup(self, name string) (subject.Spec, error) {
	if ext := filepath.Ext(name); ext == ".yaml" || ext == ".yml" {
		return Load(name)
	}
	if files.HasFolder(name) {
		return subject.Lookup(self, name)
	}
	preset, version, _ := strings.Cut(name, "@")
	if slices.Contains(Presets(), preset) {
		return Preset(preset, version)
	}
	s, err := subject.Lookup(self, name)
	if err == nil {
		return s, nil
	}
	if subject.IsFile(name) {
		return s, err
	}
	return s, subject.Unknown(name, preset, Names(self), "drivers by their path (./my-driver) and host files (./my-host.yaml)")
}

// Names are those of all hosts that are part of the program.
func Names(self string) []string {
	return append(lists.Map(subject.Builtin(self), func(s subject.Spec) string { return s.Name }), Presets()...)
}

// installEnv names the folder below which presets are installed.
const installEnv = "LEAKBENCH_HOSTS_DIR"

// ErrNoFolder says that this user has no folder for packages.
var ErrNoFolder = errors.New("no folder for installed hosts")

// InstallDir is where the packages of a preset are, or belong: below $LEAKBENCH_HOSTS_DIR, else in the user's cache.
func InstallDir(name, version string) (string, error) {
	base := os.Getenv(installEnv)
	if base == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("%w: %w", ErrNoFolder, err)
		}
		base = filepath.Join(cache, "leakbench", "hosts")
	}
	return filepath.Abs(filepath.Join(base, name+"@"+version))
}
