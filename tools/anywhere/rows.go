package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// row is one of the surroundings.
type row struct {
	name    string
	gives   string
	prepare func(context.Context, *place) error // returns an error if the row can't be played here
}

// table lists the rows in the order in which they are played.
var table = []row{
	{"processors-1", "one processor", processors(1)},
	{"processors-2", "two processors", processors(2)},
	{"processors-4", "four processors", processors(4)},
	{"processors-16", "16 processors", processors(16)},
	{"root", "the user root", root},
	{"plain-user", "a user that is not root, in a clone of the source", plainUser},
	{"umask-077", "files that only their owner may read (umask 077)", umask(0o077)},
	{"no-cgroup", "a container without a cgroup: namespaces for mounts and processes, and nothing at /sys/fs/cgroup", noCgroup},
	{"read-only-home", "a home that can't be written; the caches of Go can", readOnlyHome},
	{"long-tmpdir", "a TMPDIR of 80 characters", longTmpdir},
	{"busy", "two busy loops beside the tests", busy},
	{"no-languages", "neither Python, Node nor Rust in PATH", noLanguages},
}

var errNeedsRoot = errors.New("needs root")

// processors pins the command to n processors, as taskset does. If there are fewer, it sets GOMAXPROCS to n, so that as many threads
// take turns. The go command then starts no more test programs at a time than there are processors.
func processors(n int) func(context.Context, *place) error {
	return func(_ context.Context, p *place) error {
		have, err := allowedProcessors()
		if err != nil {
			return err
		}
		if n > len(have) {
			p.set("GOMAXPROCS", fmt.Sprint(n))
			p.set("GOFLAGS", strings.TrimSpace(fmt.Sprintf("%s -p=%d", p.flags, len(have))))
			p.note = fmt.Sprintf("GOMAXPROCS=%d on %d", n, len(have))
			return nil
		}
		p.unset("GOMAXPROCS")
		p.orders.Processors = have[:n]
		p.note = fmt.Sprintf("%d of %d", n, len(have))
		return nil
	}
}

func root(context.Context, *place) error {
	if os.Geteuid() != 0 {
		return errNeedsRoot
	}
	return nil
}

func umask(mask int) func(context.Context, *place) error {
	return func(_ context.Context, p *place) error {
		p.orders.Umask = mask
		return nil
	}
}

func noCgroup(ctx context.Context, p *place) error {
	p.orders.NoCgroup = true
	return root(ctx, p)
}

// readOnlyHome mounts the home read-only for root, who ignores permissions. Another user gets an empty home without write permission.
func readOnlyHome(_ context.Context, p *place) error {
	if os.Geteuid() != 0 {
		home, err := p.folder("home")
		if err != nil {
			return err
		}
		p.set("HOME", home)
		p.keepGo()
		return os.Chmod(home, 0o555)
	}
	home, err := filepath.EvalSymlinks(p.get("HOME"))
	if err != nil {
		return fmt.Errorf("looking for the home: %w", err)
	}
	if home == "/" {
		return errors.New("the home is /, which must stay writable")
	}
	p.orders.ReadOnly = home
	for _, path := range []string{p.cache, p.modules, p.root, os.TempDir()} {
		if path, err = filepath.EvalSymlinks(path); err == nil && strings.HasPrefix(path, home+"/") {
			p.orders.Writable = append(p.orders.Writable, path)
		}
	}
	p.keepGo()
	return nil
}

// longTmpdir leaves 27 characters for a socket: its path has at most 107 (unix(7)).
func longTmpdir(_ context.Context, p *place) error {
	const length = 80
	for _, base := range []string{os.TempDir(), "/tmp", "/var/tmp"} {
		dir, err := p.folderIn(base)
		if err != nil || len(dir) > length-2 {
			continue
		}
		dir += "/" + strings.Repeat("t", length-len(dir)-1)
		p.set("TMPDIR", dir)
		return makeFolder(dir, 0o777|os.ModeSticky)
	}
	return errors.New("the paths of all temporary folders are too long")
}

func busy(_ context.Context, p *place) error {
	p.busy = 2
	return nil
}

// languages matches programs that run, build or install Python, JavaScript and Rust.
var languages = regexp.MustCompile(`^(python|pip|uv|node|npm|npx|cargo|rust)`)

// noLanguages replaces each folder of PATH that has such a program by a folder with links to all other programs.
func noLanguages(_ context.Context, p *place) error {
	shadows, err := p.folder("path")
	if err != nil {
		return err
	}
	var dirs, seen []string
	for i, dir := range filepath.SplitList(p.get("PATH")) {
		real, err := filepath.EvalSymlinks(dir)
		if err != nil || !filepath.IsAbs(dir) || slices.Contains(seen, real) {
			continue
		}
		seen = append(seen, real)
		if dir, err = withoutLanguages(real, filepath.Join(shadows, fmt.Sprint(i))); err != nil {
			return err
		}
		dirs = append(dirs, dir)
	}
	p.set("PATH", strings.Join(dirs, string(os.PathListSeparator)))
	return nil
}

// withoutLanguages returns dir itself if it has no such program.
func withoutLanguages(dir, shadow string) (string, error) {
	programs, err := os.ReadDir(dir)
	if err != nil {
		return dir, nil // nobody finds a program in it
	}
	isLanguage := func(f os.DirEntry) bool { return languages.MatchString(f.Name()) }
	if !slices.ContainsFunc(programs, isLanguage) {
		return dir, nil
	}
	if err := makeFolder(shadow, 0o755); err != nil {
		return "", err
	}
	for _, f := range programs {
		if isLanguage(f) {
			continue
		}
		if err := os.Symlink(filepath.Join(dir, f.Name()), filepath.Join(shadow, f.Name())); err != nil {
			return "", err
		}
	}
	return shadow, nil
}
