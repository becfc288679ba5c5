//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

type kernel struct {
	suite, version, image string
	modules               []entry
}

// run runs a command and returns what it prints; the error says what it complained about.
func run(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, append(os.Environ(), env...), 5*time.Second
	var said, complained strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &complained
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, complained.String())
	}
	return said.String(), nil
}

// needTools installs what is missing.
func needTools(ctx context.Context) error {
	var missing []string
	for tool, from := range map[string]string{
		"qemu-system-x86_64": "qemu-system-x86", "runc": "runc", "/bin/busybox": "busybox-static", "xz": "xz-utils", "dpkg-deb": "dpkg",
	} {
		if _, err := exec.LookPath(tool); err != nil {
			missing = append(missing, from)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	if _, err := run(ctx, "", nil, "apt-get", "update", "-qq"); err != nil {
		return err
	}
	_, err := run(ctx, "", []string{"DEBIAN_FRONTEND=noninteractive"}, "apt-get",
		append([]string{"install", "-y", "-qq", "--no-install-recommends"}, missing...)...)
	return err
}

// apt asks the machine's own mirror about another release of Debian, with lists of its own.
type apt struct {
	dir  string
	args []string
}

var mirrorOf = regexp.MustCompile(`(?m)https?://\S+/debian/?(?:\s|$)`)

const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg"

func newApt(ctx context.Context, suite, dir string) (apt, error) {
	var mirror string
	files, _ := filepath.Glob("/etc/apt/sources.list.d/*")
	for _, file := range append(files, "/etc/apt/sources.list") {
		if text, err := os.ReadFile(file); err == nil && mirror == "" {
			mirror = strings.TrimSpace(mirrorOf.FindString(string(text)))
		}
	}
	if mirror == "" {
		return apt{}, errors.New("no mirror of Debian is set up in /etc/apt: run this on Debian, or in a container of it")
	}
	a := apt{dir: dir}
	for _, folder := range []string{"lists/partial", "cache/archives/partial"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
			return a, err
		}
	}
	list := filepath.Join(dir, "sources.list")
	if err := os.WriteFile(list, []byte(fmt.Sprintf("deb [signed-by=%s] %s %s main\n", keyring, mirror, suite)), 0o644); err != nil {
		return a, err
	}
	for _, o := range []string{
		"Dir::Etc::SourceList=" + list, "Dir::Etc::SourceParts=-", "Dir::State::Lists=" + dir + "/lists", "Dir::Cache=" + dir + "/cache",
		"APT::Sandbox::User=root", "APT::Architecture=amd64", "Acquire::Retries=3",
	} {
		a.args = append(a.args, "-o", o)
	}
	_, err := a.run(ctx, "apt-get", "update", "-qq")
	return a, err
}

func (a apt) run(ctx context.Context, program string, args ...string) (string, error) {
	return run(ctx, a.dir, nil, program, append(a.args[:len(a.args):len(a.args)], args...)...)
}

// depends are the packages of a kernel that a package depends on.
func (a apt) depends(ctx context.Context, name string) ([]string, error) {
	said, err := a.run(ctx, "apt-cache", "depends", "--no-recommends", "--no-suggests", name)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, m := range regexp.MustCompile(`(?m)Depends: (linux-(?:image|binary|modules)-\d\S*)`).FindAllStringSubmatch(said, -1) {
		found = append(found, m[1])
	}
	return found, nil
}

// fetch downloads the kernel of a release and unpacks it. Since 7.x the packages of image, program and modules are three.
func fetch(ctx context.Context, suite, dir string) (kernel, error) {
	a, err := newApt(ctx, suite, filepath.Join(dir, "apt"))
	if err != nil {
		return kernel{}, err
	}
	packages, err := a.depends(ctx, "linux-image-cloud-amd64")
	if err != nil || len(packages) == 0 {
		return kernel{}, errors.Join(err, errors.New("linux-image-cloud-amd64 depends on no kernel"))
	}
	parts, err := a.depends(ctx, packages[0])
	if err != nil {
		return kernel{}, err
	}
	root := filepath.Join(dir, "root")
	for _, name := range append(packages[:1], parts...) {
		if _, err := a.run(ctx, "apt-get", "download", "-qq", name); err != nil {
			return kernel{}, err
		}
		debs, _ := filepath.Glob(filepath.Join(a.dir, name+"_*.deb"))
		for _, deb := range debs {
			if _, err := run(ctx, a.dir, nil, "dpkg-deb", "-x", deb, root); err != nil {
				return kernel{}, err
			}
		}
	}
	return unpacked(ctx, suite, root)
}

func unpacked(ctx context.Context, suite, root string) (kernel, error) {
	k := kernel{suite: suite}
	for _, pattern := range []string{"boot/vmlinuz-*", "usr/lib/modules/*/vmlinuz", "usr/lib/linux/*/vmlinuz"} {
		if found, _ := filepath.Glob(filepath.Join(root, pattern)); k.image == "" && len(found) > 0 {
			k.image = found[0]
		}
	}
	if k.image == "" {
		return k, fmt.Errorf("no vmlinuz below %s", root)
	}
	folders, _ := filepath.Glob(filepath.Join(root, "usr/lib/modules/*/kernel"))
	old, _ := filepath.Glob(filepath.Join(root, "lib/modules/*/kernel"))
	for _, folder := range append(folders, old...) {
		k.version = filepath.Base(filepath.Dir(folder))
		// Who holds the other end of a socketpair is asked through it. The kernel loads it by itself where there is a modprobe.
		for _, name := range []string{"net/unix/unix_diag.ko"} {
			module, err := readModule(ctx, filepath.Join(folder, name))
			if err != nil {
				return k, err
			}
			k.modules = append(k.modules, entry{name: "modules/" + filepath.Base(name), mode: 0o644, data: module})
		}
	}
	return k, nil
}

// readModule reads a module, packed or not.
func readModule(ctx context.Context, path string) ([]byte, error) {
	if data, err := os.ReadFile(path); err == nil {
		return data, nil
	}
	said, err := run(ctx, "", nil, "xz", "-dc", path+".xz")
	return []byte(said), err
}
