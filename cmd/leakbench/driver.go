package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/leakbench/leakbench/internal/files"
	"github.com/leakbench/leakbench/internal/subject/hostinit"
	"github.com/leakbench/leakbench/internal/text"
)

const defaultDriver = "leakbench-driver"

// initDriver writes a driver into a folder. Nothing is written where one of its files is there already.
func (a *app) initDriver(language, folder string, force bool) error {
	all, commands, err := hostinit.Driver(language, filepath.ToSlash(folder))
	if err != nil {
		return err
	}
	if err := files.NoLink(".", folder); err != nil && folder == defaultDriver {
		return usage(err, "name the folder that is meant: leakbench init --driver "+language+" FOLDER")
	}
	for _, f := range all {
		path := filepath.Join(folder, filepath.FromSlash(f.Path))
		if _, err := os.Lstat(path); err == nil && !force {
			return usage(fmt.Errorf("%s is there already", path), "--force overwrites it; another folder can be named")
		}
	}
	for _, f := range all {
		path := filepath.Join(folder, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return usage(err, "")
		}
		mode := os.FileMode(0o644)
		if f.Program {
			mode = 0o755
		}
		if err := files.Own(path, mode, files.Text(f.Content)); err != nil {
			return usage(err, "")
		}
	}
	own := filepath.Join(folder, filepath.FromSlash(all[0].Path))
	_, err = fmt.Fprintf(a.out, "%s is written: put your own client there. Try it:\n  %s\n",
		text.PrintableLines(own), text.PrintableLines(strings.Join(commands, "\n  ")))
	return err
}
