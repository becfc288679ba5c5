package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// plainUser plays the command as the user nobody, who may not write anything of root's. The clone of the source, copies of Go's caches
// and the home are in p.base, because nobody can't enter /root. If anywhere does not run as root, the user is kept.
func plainUser(ctx context.Context, p *place) (err error) {
	if os.Geteuid() != 0 {
		p.note = "as uid " + strconv.Itoa(os.Geteuid())
		return nil
	}
	if p.orders.UID, p.orders.GID, err = nobody(); err != nil {
		return err
	}
	if !reachable(p.goroot) {
		return fmt.Errorf("a plain user can't reach Go in %s", p.goroot)
	}
	if err := makeRootsFolder(p.base); err != nil {
		return err
	}
	unlock, err := lock(filepath.Join(p.base, "lock"))
	if err != nil {
		return err
	}
	p.cleanup = append(p.cleanup, func() {
		for _, name := range []string{"source", "home"} {
			_ = os.RemoveAll(filepath.Join(p.base, name))
		}
		unlock()
	})
	if err := p.giveSource(ctx); err != nil {
		return err
	}
	if err := p.giveFolders(ctx); err != nil {
		return err
	}
	p.note = fmt.Sprintf("as uid %d in %s", p.orders.UID, p.base)
	return nil
}

// nobody returns the ids of the user nobody, who owns no files.
func nobody() (uid, gid int, err error) {
	u, err := user.Lookup("nobody")
	if err != nil {
		return 0, 0, err
	}
	uid, err = strconv.Atoi(u.Uid)
	gid, err2 := strconv.Atoi(u.Gid)
	return uid, gid, errors.Join(err, err2)
}

// reachable reports whether everybody may enter a folder.
func reachable(dir string) bool {
	for {
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm()&0o001 == 0 {
			return false
		}
		if dir == filepath.Dir(dir) {
			return true
		}
		dir = filepath.Dir(dir)
	}
}

// giveSource clones the source, applies the changes that are not committed, and gives the clone to the user.
func (p *place) giveSource(ctx context.Context) error {
	clone := filepath.Join(p.base, "source")
	if err := os.RemoveAll(clone); err != nil {
		return err
	}
	if _, err := command(ctx, p.root, "git", "clone", "--quiet", "--no-hardlinks", p.root, clone); err != nil {
		return err
	}
	changed, err := command(ctx, p.root, "git", "diff", "-z", "--name-only", "--relative", "HEAD")
	if err != nil {
		return err
	}
	added, err := command(ctx, p.root, "git", "ls-files", "-z", "--others", "--exclude-standard")
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(strings.Trim(string(changed)+string(added), "\x00"), "\x00") {
		if name == "" {
			continue
		}
		to := filepath.Join(clone, name)
		info, err := os.Lstat(filepath.Join(p.root, name))
		if errors.Is(err, fs.ErrNotExist) {
			err = os.Remove(to)
		} else if err == nil && info.Mode().IsRegular() {
			err = errors.Join(os.RemoveAll(to), os.MkdirAll(filepath.Dir(to), 0o755), copyFile(filepath.Join(p.root, name), to, info.Mode().Perm()))
		}
		if err != nil {
			return err
		}
	}
	p.dir = clone
	return p.own(clone)
}

// giveFolders makes the other folders of the user, and sets the environment.
func (p *place) giveFolders(ctx context.Context) error {
	home := filepath.Join(p.base, "home")
	if err := errors.Join(os.RemoveAll(home), os.Mkdir(home, 0o700), os.Chown(home, p.orders.UID, p.orders.GID)); err != nil {
		return err
	}
	cache, modules := filepath.Join(p.base, "cache"), filepath.Join(p.base, "modules")
	if err := copyNew(ctx, p.cache, cache); err != nil {
		return err
	}
	if err := p.own(cache); err != nil {
		return err
	}
	if err := copyNew(ctx, p.modules, modules); err != nil { // the user may only read them
		return err
	}
	p.cache, p.modules = cache, modules
	p.dropRootsThings()
	p.set("HOME", home)
	p.set("GOPATH", filepath.Join(home, "go"))
	p.unset("TMPDIR") // it may be root's, and everybody has /tmp
	p.set("USER", "nobody")
	p.set("LOGNAME", "nobody")
	p.set("GOPROXY", "off") // the caches have all modules
	p.set("GOTOOLCHAIN", "local")
	p.keepGo()
	return nil
}

// dropRootsThings removes variables that name a path in root's home, and entries of PATH that the user can't enter.
func (p *place) dropRootsThings() {
	home := strings.TrimRight(p.get("HOME"), "/")
	in := func(path string) bool { return home != "" && (path == home || strings.HasPrefix(path, home+"/")) }
	p.dropEnv(func(name, value string) bool {
		return name != "PATH" && (in(value) || strings.HasPrefix(name, "XDG_"))
	})
	entries := filepath.SplitList(p.get("PATH"))
	p.set("PATH", strings.Join(slices.DeleteFunc(entries, func(dir string) bool { return !reachable(dir) }), ":"))
}

// own gives a folder and everything in it to the user.
func (p *place) own(dir string) error {
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, p.orders.UID, p.orders.GID)
	})
}

// copyNew copies the files of a cache that the copy lacks, and lets everybody read them. A cached file never changes.
func copyNew(ctx context.Context, from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if errors.Is(err, fs.ErrNotExist) && path != from {
			return nil // Go has just trimmed its cache
		}
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		into := filepath.Join(to, name)
		if d.IsDir() {
			return errors.Join(os.MkdirAll(into, 0o755), os.Chmod(into, 0o755)) // whatever the umask is
		}
		if err := copyCached(path, into, d); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
}

func copyCached(from, to string, d fs.DirEntry) error {
	info, err := d.Info()
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	if have, err := os.Lstat(to); err == nil && have.Size() == info.Size() {
		return nil
	}
	return copyFile(from, to, info.Mode().Perm()|0o444)
}

func copyFile(from, to string, mode fs.FileMode) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close(), os.Chmod(to, mode))
}
