package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/leakbench/leakbench/internal/judge/known"
	"github.com/leakbench/leakbench/internal/subject/hostfile"
	"github.com/leakbench/leakbench/internal/yamlfile"
	"github.com/leakbench/leakbench/scenarios"
)

// checked is what validate says of a file.
type checked struct {
	File     string              `json:"file"`
	Kind     string              `json:"kind,omitempty"` // scenario, host or known
	OK       bool                `json:"ok"`
	Size     *scenarios.Size     `json:"size,omitempty"`    // of a scenario
	Host     string              `json:"host,omitempty"`    // the name of a host
	Entries  int                 `json:"entries,omitempty"` // of a list of known findings
	Problems []scenarios.Problem `json:"problems,omitempty"`
	Error    string              `json:"error,omitempty"` // it could not be read at all
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

func check(path string, stdin io.Reader) checked {
	c := checked{File: path}
	name, src, err := textOf(path, stdin)
	if err == nil {
		c.Kind = kindOf(path, src)
		err = c.read(name, src)
	}
	var problems scenarios.Errors
	switch {
	case err == nil:
		c.OK = true
	case errors.As(err, &problems):
		c.Problems = problems
	default:
		c.Error = err.Error()
	}
	return c
}

// textOf is a file's text, and what messages call it.
func textOf(path string, stdin io.Reader) (name string, src []byte, err error) {
	name, from := path, stdin
	if path == "-" {
		name = "standard input"
	} else {
		f, err := os.Open(path)
		if err != nil {
			return name, nil, fmt.Errorf("failed to read the file: %w", err)
		}
		defer f.Close()
		from = f
	}
	if src, err = yamlfile.Source(from); err != nil {
		return name, nil, fmt.Errorf("failed to read the file: %w", err)
	}
	return name, src, nil
}

// The kinds of files that can be checked.
const (
	scenarioFile = "scenario"
	hostFile     = "host"
	knownFile    = "known"
)

var (
	knownKeys = regexp.MustCompile(`(?m)^["']?known["']?\s*:`)
	hostKeys  = regexp.MustCompile(`(?m)^["']?(command|drive)["']?\s*:`)
)

// kindOf is what a file means to be: a key that only one kind has says it.
func kindOf(path string, src []byte) string {
	switch {
	case knownKeys.Match(src), filepath.Base(path) == filepath.Base(known.File):
		return knownFile
	case hostKeys.Match(src):
		return hostFile
	}
	return scenarioFile
}

func (c *checked) read(name string, src []byte) error {
	switch c.Kind {
	case knownFile:
		l, err := known.Parse(name, src)
		c.Entries = len(l.Entries)
		return err
	case hostFile:
		spec, err := hostfile.Parse(name, src)
		c.Host = spec.Name
		return err
	}
	s, err := scenarios.Parse(name, src)
	if err != nil {
		return err
	}
	size := s.Size()
	c.Size = &size
	return nil
}

// what is a word on a file that is right.
func (c *checked) what() string {
	switch c.Kind {
	case knownFile:
		return entries(c.Entries)
	case hostFile:
		return "host " + printable(c.Host)
	}
	return c.Size.String()
}

func (a *app) printChecked(all []checked) error {
	bad := 0
	for _, c := range all {
		if !c.OK {
			bad++
		}
	}
	if a.format == "json" {
		enc := a.encoder()
		enc.SetEscapeHTML(false)
		if err := enc.Encode(map[string]any{"ok": bad == 0, "files": all}); err != nil {
			return err
		}
	} else {
		for _, c := range all {
			a.printFile(c)
		}
	}
	return exitWhen(bad > 0, exitUsage)
}

func (a *app) printFile(c checked) {
	switch {
	case c.OK:
		fmt.Fprintf(a.out, "%s: ok: %s\n", printable(c.File), c.what())
	case c.Error != "":
		fmt.Fprintf(a.out, "%s: %s\n", printable(c.File), printable(c.Error))
	default:
		fmt.Fprintln(a.out, printable(scenarios.Errors(c.Problems).Error()))
	}
}

func (a *app) schemaCommand() *cobra.Command {
	schemas := map[string]func() []byte{scenarioFile: scenarios.Schema, hostFile: hostfile.Schema, knownFile: known.Schema}
	kinds := []string{scenarioFile, hostFile, knownFile}
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
			kind := scenarioFile
			switch len(args) {
			case 0:
			case 1:
				if err := oneOf("schema", args[0], kinds...); err != nil {
					return err
				}
				kind = args[0]
			default:
				return usage(errors.New("schema prints one"), "leakbench schema scenario, host or known")
			}
			_, err := a.out.Write(schemas[kind]())
			return err
		},
	}
}
