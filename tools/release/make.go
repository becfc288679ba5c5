package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// release is what is made of a commit.
type release struct {
	root, out, version, commit string
	at                         time.Time // of the commit: nothing in a release has the time of the clock
	platforms                  []string
	said                       io.Writer

	work    string              // a temporary folder, with the programs
	modules map[string][]module // what is in the program of a platform
	files   []published
	digest  string // of the image
}

// published is a file of a release.
type published struct {
	name, platform, sum string // platform is "" where no program is inside
}

// make makes all files, and last those that list the others.
func (r *release) make(ctx context.Context) (err error) {
	if missing := lacks(ctx); len(missing) > 0 {
		return fmt.Errorf("this machine can't make a release:\n  %s", strings.Join(missing, "\n  "))
	}
	if err := emptyFolder(r.out); err != nil {
		return err
	}
	if r.work, err = os.MkdirTemp("", "leakbench-release"); err != nil {
		return fmt.Errorf("failed to make a temporary folder: %w", err)
	}
	defer os.RemoveAll(r.work)
	for _, platform := range r.platforms {
		fmt.Fprintln(r.said, platform)
		if err := r.program(ctx, platform); err != nil {
			return err
		}
		if err := r.archive(platform); err != nil {
			return err
		}
		if err := r.packages(ctx, platform); err != nil {
			return err
		}
	}
	for _, part := range []func() error{r.image, r.install, r.notes, r.sbom, r.checksums} {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

// ldflags are those of the Dockerfile.
func (r *release) ldflags() string {
	return fmt.Sprintf("-s -w -buildid= -X main.version=%s -X main.commit=%s -X main.date=%s", r.version, r.commit, r.at.Format(time.RFC3339))
}

// programOf is the file of the program in the temporary folder, and its name in a package.
func (r *release) programOf(platform string) (file, name string) {
	name = "leakbench"
	if strings.HasPrefix(platform, "windows/") {
		name += ".exe"
	}
	return filepath.Join(r.work, strings.ReplaceAll(platform, "/", "_"), name), name
}

func (r *release) program(ctx context.Context, platform string) error {
	system, arch, _ := strings.Cut(platform, "/")
	file, _ := r.programOf(platform)
	env := []string{"CGO_ENABLED=0", "GOOS=" + system, "GOARCH=" + arch, "GOFLAGS="}
	err := r.command(ctx, env, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", r.ldflags(), "-o", file, "./cmd/leakbench")
	if err != nil {
		return err
	}
	r.modules[platform], err = modulesOf(file)
	return err
}

// packages makes the wheels and the npm packages of a platform. Each platform makes the same main npm package.
func (r *release) packages(ctx context.Context, platform string) error {
	file, _ := r.programOf(platform)
	dir := filepath.Join(r.work, "packages", strings.ReplaceAll(platform, "/", "_"))
	env := []string{"LEAKBENCH_BINARY=" + file, fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.at.Unix())}
	if err := r.command(ctx, env, "bash", filepath.Join("integrations", "pack"), dir, r.version, platform); err != nil {
		return err
	}
	made, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("failed to find the packages of %s: %w", platform, err)
	}
	for _, m := range made {
		content, err := os.ReadFile(filepath.Join(dir, m.Name()))
		if err != nil {
			return fmt.Errorf("failed to read a package: %w", err)
		}
		of := platform
		if m.Name() == "leakbench-"+r.version+".tgz" {
			of = ""
		}
		if err := r.publish(m.Name(), of, content); err != nil {
			return err
		}
	}
	return nil
}

func (r *release) command(ctx context.Context, env []string, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = r.root, append(os.Environ(), env...), 10*time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, args[0], err, out)
	}
	return nil
}

// publish writes a file of the release, once.
func (r *release) publish(name, platform string, content []byte) error {
	sum := sha256.Sum256(content)
	file := published{name, platform, hex.EncodeToString(sum[:])}
	if i := slices.IndexFunc(r.files, func(p published) bool { return p.name == name }); i >= 0 {
		if r.files[i] != file {
			return fmt.Errorf("%s was made twice, and differs", name)
		}
		return nil
	}
	r.files = append(r.files, file)
	if err := os.WriteFile(filepath.Join(r.out, name), content, 0o644); err != nil {
		return fmt.Errorf("failed to write a file of the release: %w", err)
	}
	return nil
}

// entry is a file of an archive.
type entry struct {
	name    string
	mode    int64
	content []byte
}

func (r *release) archive(platform string) error {
	file, name := r.programOf(platform)
	program, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("failed to read the program: %w", err)
	}
	entries := []entry{{name, 0o755, program}}
	for _, also := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		content, err := os.ReadFile(filepath.Join(r.root, also))
		if err != nil {
			return fmt.Errorf("failed to read what belongs into an archive: %w", err)
		}
		entries = append(entries, entry{also, 0o644, content})
	}
	full, pack := "leakbench_"+r.version+"_"+strings.ReplaceAll(platform, "/", "_"), r.zip
	if strings.HasSuffix(name, ".exe") {
		full += ".zip"
	} else {
		full, pack = full+".tar.gz", r.tarGz
	}
	var packed strings.Builder
	if err := pack(&packed, entries); err != nil {
		return fmt.Errorf("failed to write %s: %w", full, err)
	}
	return r.publish(full, platform, []byte(packed.String()))
}

func (r *release) tarGz(to io.Writer, entries []entry) error {
	z := gzip.NewWriter(to)
	return errors.Join(r.tar(z, entries), z.Close())
}

func (r *release) tar(to io.Writer, entries []entry) error {
	t := tar.NewWriter(to)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Mode: e.mode, Size: int64(len(e.content)), ModTime: r.at, Typeflag: tar.TypeReg, Format: tar.FormatUSTAR}
		if strings.HasSuffix(e.name, "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(e.content); err != nil {
			return err
		}
	}
	return t.Close()
}

func (r *release) zip(to io.Writer, entries []entry) error {
	z := zip.NewWriter(to)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: r.at}
		h.SetMode(os.FileMode(e.mode))
		w, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := w.Write(e.content); err != nil {
			return err
		}
	}
	return z.Close()
}

// install writes install.sh, which installs this release unless it is told another one.
func (r *release) install() error {
	script, err := os.ReadFile(filepath.Join(r.root, "install.sh"))
	if err != nil {
		return fmt.Errorf("failed to read install.sh: %w", err)
	}
	const any = "version=${LEAKBENCH_VERSION:-}\n"
	if strings.Count(string(script), any) != 1 {
		return fmt.Errorf("install.sh has no line %q", any)
	}
	return r.publish("install.sh", "", []byte(strings.Replace(string(script), any, "version=${LEAKBENCH_VERSION:-v"+r.version+"}\n", 1)))
}

func (r *release) notes() error {
	changelog, err := os.ReadFile(filepath.Join(r.root, "CHANGELOG.md"))
	if err != nil {
		return fmt.Errorf("failed to read the changelog: %w", err)
	}
	said, err := notes(string(changelog), r.version)
	if err != nil {
		return err
	}
	return r.publish("notes.md", "", []byte(said))
}

// checksums lists all files but itself, as sha256sum does.
func (r *release) checksums() error {
	var lines []string
	for _, f := range r.files {
		lines = append(lines, f.sum+"  "+f.name+"\n")
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[64:], b[64:]) })
	return r.publish("checksums.txt", "", []byte(strings.Join(lines, "")))
}
