// Command release makes all that a release publishes, in a folder: the archives, the wheels, the npm packages, the image, install.sh, the
// section of the changelog, the list of what is in them (SBOM), and the checksums of all that. It publishes nothing.
//
//	go run ./tools/release --dry-run                 # version 0.1.0 of the files as they are, into dist
//	go run ./tools/release --dry-run --platforms linux/amd64 --out DIR
//	go run ./tools/release                           # the version that the tag of this commit names; .github/workflows/release.yml runs it
//
// The provenance is not made here: only a job on GitHub can sign it. docs/understand/releasing.md describes the whole release.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/text"
)

// firstVersion is what a dry run makes, if --version names no other.
const firstVersion = "0.1.0"

// platforms are those of a release.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	r := &release{root: ".", said: out, platforms: platforms, modules: map[string][]module{}}
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	dry := flags.Bool("dry-run", false, "make a release of the files as they are, tagged or not")
	flags.StringVar(&r.version, "version", "", "the version, for example 0.1.0 (empty: the tag's; in a dry run "+firstVersion+")")
	flags.StringVar(&r.out, "out", "dist", "the folder, which must be empty")
	flags.Func("platforms", "only these, separated by commas, for example linux/amd64; for a dry run", func(list string) error {
		r.platforms = strings.Split(list, ",")
		return nil
	})
	if err := flags.Parse(args); err != nil {
		return err
	}
	for _, p := range r.platforms {
		if !slices.Contains(platforms, p) {
			return fmt.Errorf("no release is made for %s, but for %s", p, strings.Join(platforms, ", "))
		}
	}
	if *dry && r.version == "" {
		r.version = firstVersion
	}
	if r.version != "" && !semantic.MatchString(r.version) {
		return fmt.Errorf("%q is no version; one is called %s", r.version, firstVersion)
	}
	if err := r.fromGit(ctx, *dry); err != nil {
		return err
	}
	if err := r.make(ctx); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: %s of %s\n", r.out, text.Count(len(r.files), "file"), r.version)
	if *dry {
		fmt.Fprintln(out, "not made here: the provenance, which only .github/workflows/release.yml can sign; nothing is published")
	}
	return nil
}

var semantic = regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)

// fromGit finds the commit, and the version that its tag names. Only a dry run makes a release of files that no tag names.
func (r *release) fromGit(ctx context.Context, dry bool) (err error) {
	if r.commit, err = r.git(ctx, "rev-parse", "HEAD"); err != nil {
		return err
	}
	date, err := r.git(ctx, "log", "-1", "--format=%ct")
	if err != nil {
		return err
	}
	var seconds int64
	if _, err := fmt.Sscan(date, &seconds); err != nil {
		return fmt.Errorf("failed to read the time of the commit: %w", err)
	}
	r.at = time.Unix(seconds, 0).UTC()
	if dry {
		return nil
	}
	if err := r.fromTag(ctx); err != nil {
		return fmt.Errorf("%w; go run ./tools/release --dry-run makes one of the files as they are", err)
	}
	return nil
}

func (r *release) fromTag(ctx context.Context) error {
	tag, err := r.tag(ctx)
	if err != nil {
		return err
	}
	if !semantic.MatchString(strings.TrimPrefix(tag, "v")) {
		return fmt.Errorf("the tag of this commit is %s; one of a release is v%s", tag, firstVersion)
	}
	r.version = strings.TrimPrefix(tag, "v")
	changed, err := r.git(ctx, "status", "--porcelain")
	switch {
	case err != nil:
		return err
	case changed != "":
		return fmt.Errorf("files have changed since %s:\n%s", tag, changed)
	case len(r.platforms) != len(platforms):
		return errors.New("a release is made for all platforms")
	}
	return nil
}

// tag is the tag that names this commit. Where a version is asked for it is that one: a commit may have several.
func (r *release) tag(ctx context.Context) (string, error) {
	if r.version == "" {
		tag, err := r.git(ctx, "describe", "--tags", "--exact-match", "HEAD")
		if err != nil {
			return "", errors.New("no tag names this commit")
		}
		return tag, nil
	}
	tag := "v" + r.version
	named, err := r.git(ctx, "rev-parse", "--verify", "--quiet", "refs/tags/"+tag+"^{commit}")
	head, failed := r.git(ctx, "rev-parse", "HEAD")
	if err != nil || failed != nil || named != head {
		return "", fmt.Errorf("the tag %s does not name this commit", tag)
	}
	return tag, nil
}

func (r *release) git(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.WaitDelay = r.root, 10*time.Second
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}

// lacks is what this machine can't do, each with what to do about it.
func lacks(ctx context.Context) (missing []string) {
	for _, need := range []struct{ try, hint string }{
		{"go version", "the programs: install Go"},
		{"bash --version", "the packages: install bash"},
		{"python3 -m pip --version", "the wheels: install Python 3 with pip"},
		{"npm --version", "the npm packages: install Node.js with npm"},
	} {
		words := strings.Fields(need.try)
		cmd := exec.CommandContext(ctx, words[0], words[1:]...)
		cmd.WaitDelay = 10 * time.Second
		if err := cmd.Run(); err != nil {
			missing = append(missing, fmt.Sprintf("%s (%s: %v)", need.hint, need.try, err))
		}
	}
	return missing
}

var heading = regexp.MustCompile(`(?m)^## \[.*$`)

// notes are the section of the changelog about a version; until it has one, what is not released yet.
func notes(changelog, version string) (string, error) {
	for _, name := range []string{version, "Unreleased"} {
		begin := strings.Index(changelog, "\n## ["+name+"]")
		if begin < 0 {
			continue
		}
		section := changelog[begin+1:]
		section = section[len(heading.FindString(section)):]
		if next := heading.FindStringIndex(section); next != nil {
			section = section[:next[0]]
		}
		if section = strings.TrimSpace(section); section != "" {
			section = strings.ReplaceAll(section, "](docs/", "](https://github.com/leakbench/leakbench/blob/v"+version+"/docs/")
			return "# leakbench " + version + "\n\n" + section + "\n", nil
		}
	}
	return "", fmt.Errorf("the changelog says nothing of %s: write a section ## [%s] or ## [Unreleased]", version, version)
}

// emptyFolder makes the folder of a release.
func emptyFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("failed to make the folder: %w", err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) > 0 {
		return fmt.Errorf("%s is not empty: remove it, or name another folder with --out", dir)
	}
	return nil
}
