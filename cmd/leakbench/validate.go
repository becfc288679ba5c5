package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/spf13/cobra"

	"github.com/leakbench/leakbench/internal/judge/known"
	"github.com/leakbench/leakbench/internal/subject/hostfile"
	"github.com/leakbench/leakbench/internal/yamlfile"
	"github.com/leakbench/leakbench/scenarios"
)

// checked is what validate says of a file.
type checked struct {
	File     string          `json:"file"`
	Kind     string          `json:"kind,omitempty"` // scenario, host or known
	OK       bool            `json:"ok"`
	Size     *scenarios.Size `json:"size,omitempty"`    // of a scenario
	Host     string          `json:"host,omitempty"`    // the name of a host
	Entries  int             `json:"entries,omitempty"` // of a list of known findings
	Problems yamlfile.Errors `json:"problems,omitempty"`
	Error    string          `json:"error,omitempty"` // it could not be read at all
	what     string          // a word on a file that is right
}

func (a *app) validateCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "validate FILE...",
		Short: "Check scenario files, host files and lists of known findings, without playing anything",
		Long: `Check scenario files, host files and lists of known findings, without playing
anything: each problem is told with its place. What a file is follows from its
keys. - is standard input. Exit status 0 when all files are right, else 2.

An editor can do most of this while you write: see leakbench schema.`,
		Example: "  leakbench validate mine.yaml\n  leakbench validate .leakbench/known.yaml\n  leakbench validate *.yaml --format json",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage(errors.New("which file?"), "for example: leakbench validate mine.yaml")
			}
			var all []checked
			for _, path := range args {
				all = append(all, check(path, cmd.InOrStdin()))
			}
			return a.printChecked(all)
		},
	}
}

// check reads a file for what its keys say that it means to be.
func check(path string, stdin io.Reader) checked {
	c := checked{File: path}
	name, src, err := textOf(path, stdin)
	if err == nil {
		kind := kindOf(path, src)
		c.Kind = kind.name
		err = kind.read(&c, name, src)
	}
	if c.OK = err == nil; !c.OK && !errors.As(err, &c.Problems) {
		c.Error = err.Error()
	}
	return c
}

// textOf is a file's text, and what messages call it.
func textOf(path string, stdin io.Reader) (name string, src []byte, err error) {
	name = path
	if path == "-" {
		name = "standard input"
	} else {
		var f *os.File
		if f, err = os.Open(path); err == nil {
			defer f.Close()
			stdin = f
		}
	}
	if err == nil {
		src, err = yamlfile.Source(stdin)
	}
	if err != nil {
		err = fmt.Errorf("failed to read the file: %w", err)
	}
	return name, src, err
}

// fileKind is a kind of files that can be checked, and has a schema.
type fileKind struct {
	name   string
	keys   *regexp.Regexp // those that only this kind has
	read   func(c *checked, name string, src []byte) error
	schema func() []byte
}

// fileKinds are all of them. The first is what no other is.
var fileKinds = []fileKind{
	{"scenario", nil, func(c *checked, name string, src []byte) error {
		s, err := scenarios.Parse(name, src)
		if err == nil {
			size := s.Size()
			c.Size, c.what = &size, size.String()
		}
		return err
	}, scenarios.Schema},
	{"host", regexp.MustCompile(`(?m)^["']?(command|drive)["']?\s*:`), func(c *checked, name string, src []byte) error {
		spec, err := hostfile.Parse(name, src)
		c.Host, c.what = spec.Name, "host "+printable(spec.Name)
		return err
	}, hostfile.Schema},
	{"known", regexp.MustCompile(`(?m)^["']?known["']?\s*:`), func(c *checked, name string, src []byte) error {
		l, err := known.Parse(name, src)
		c.Entries, c.what = len(l.Entries), entries(len(l.Entries))
		return err
	}, known.Schema},
}

// kindOf is what a file means to be.
func kindOf(path string, src []byte) fileKind {
	for _, kind := range slices.Backward(fileKinds[1:]) {
		if kind.keys.Match(src) || kind.name == "known" && filepath.Base(path) == filepath.Base(known.File) {
			return kind
		}
	}
	return fileKinds[0]
}

func (a *app) printChecked(all []checked) error {
	bad := slices.ContainsFunc(all, func(c checked) bool { return !c.OK })
	if a.format == "json" {
		enc := a.encoder()
		enc.SetEscapeHTML(false)
		return firstOf(enc.Encode(map[string]any{"ok": !bad, "files": all}), exitWhen(bad, exitUsage))
	}
	for _, c := range all {
		switch {
		case c.OK:
			fmt.Fprintf(a.out, "%s: ok: %s\n", printable(c.File), c.what)
		case c.Error != "":
			fmt.Fprintf(a.out, "%s: %s\n", printable(c.File), printable(c.Error))
		default:
			fmt.Fprintln(a.out, printable(c.Problems.Error()))
		}
	}
	return exitWhen(bad, exitUsage)
}

func (a *app) schemaCommand() *cobra.Command {
	var kinds []string
	for _, kind := range fileKinds {
		kinds = append(kinds, kind.name)
	}
	return &cobra.Command{
		Use:   "schema [scenario|host|known]",
		Short: "Print the JSON Schema of scenario files, host files or the list of known findings, for editors",
		Long: `Print the JSON Schema (draft 2020-12) of scenario files, host files or the list
of known findings. An editor with a YAML language server completes and checks a
file that begins with

  # yaml-language-server: $schema=` + scenarios.SchemaURL + `

(host.schema.json, known.schema.json) or with the path of a copy. What depends
on the rest of a file (a session that is not open there, faults that contradict
each other) only leakbench validate tells.`,
		Example:   "  leakbench schema > scenario.schema.json\n  leakbench schema known > known.schema.json",
		ValidArgs: kinds,
		RunE: func(_ *cobra.Command, args []string) error {
			kind := fileKinds[0]
			switch len(args) {
			case 0:
			case 1:
				if err := oneOf("schema", args[0], kinds...); err != nil {
					return err
				}
				kind = fileKinds[slices.Index(kinds, args[0])]
			default:
				return usage(errors.New("schema prints one"), "leakbench schema scenario, host or known")
			}
			_, err := a.out.Write(kind.schema())
			return err
		},
	}
}
