package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/leakbench/leakbench/scenarios"
)

// checked is what validate says of a file.
type checked struct {
	File     string              `json:"file"`
	OK       bool                `json:"ok"`
	Size     *scenarios.Size     `json:"size,omitempty"`
	Problems []scenarios.Problem `json:"problems,omitempty"`
	Error    string              `json:"error,omitempty"` // it could not be read at all
}

func (a *app) validateCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "validate FILE...",
		Short: "Check scenario files, without playing them",
		Long: `Check scenario files, without playing them: each problem is told with its place.
- is standard input. Exit status 0 when all files are right, else 2.

An editor can do most of this while you write: see leakbench schema.`,
		Example: "  leakbench validate mine.yaml\n  leakbench validate *.yaml --format json",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage(errors.New("which file?"), "for example: leakbench validate mine.yaml")
			}
			var all []checked
			for _, path := range args {
				all = append(all, check(path, cmd.InOrStdin()))
			}
			return a.tellChecked(all)
		},
	}
}

func check(path string, stdin io.Reader) checked {
	c := checked{File: path}
	s, err := loadFrom(path, stdin)
	var problems scenarios.Errors
	switch {
	case err == nil:
		size := s.Size()
		c.OK, c.Size = true, &size
	case errors.As(err, &problems):
		c.Problems = problems
	default:
		c.Error = err.Error()
	}
	return c
}

func loadFrom(path string, stdin io.Reader) (*scenarios.Scenario, error) {
	if path == "-" {
		return scenarios.Read("standard input", stdin)
	}
	return scenarios.Load(path)
}

func (a *app) tellChecked(all []checked) error {
	bad := 0
	for _, c := range all {
		if !c.OK {
			bad++
		}
	}
	if a.format == "json" {
		enc := json.NewEncoder(a.out)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(map[string]any{"ok": bad == 0, "files": all}); err != nil {
			return err
		}
	} else {
		for _, c := range all {
			a.tellFile(c)
		}
	}
	if bad > 0 {
		return verdictExit(exitUsage)
	}
	return nil
}

func (a *app) tellFile(c checked) {
	switch {
	case c.OK:
		fmt.Fprintf(a.out, "%s: ok: %s\n", printable(c.File), c.Size)
	case c.Error != "":
		fmt.Fprintf(a.out, "%s: %s\n", printable(c.File), printable(c.Error))
	default:
		fmt.Fprintln(a.out, printable(scenarios.Errors(c.Problems).Error()))
	}
}

func (a *app) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of scenario files, for editors",
		Long: `Print the JSON Schema (draft 2020-12) of scenario files. An editor with a YAML
language server completes and checks a file that begins with

  # yaml-language-server: $schema=` + scenarios.SchemaURL + `

or with the path of a copy. What depends on the rest of a file (a session that is
not open there, faults that contradict each other) only leakbench validate tells.`,
		Example: "  leakbench schema > scenario.schema.json",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := a.out.Write(scenarios.Schema())
			return err
		},
	}
}
