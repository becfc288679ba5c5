package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/leakbench/leakbench/internal/play/validate"
	"github.com/leakbench/leakbench/scenarios"
)

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
			var all []validate.Checked
			for _, path := range args {
				all = append(all, validate.File(path, cmd.InOrStdin()))
			}
			return a.printChecked(all)
		},
	}
}

func (a *app) printChecked(all []validate.Checked) error {
	bad := slices.ContainsFunc(all, func(c validate.Checked) bool { return !c.OK })
	if a.format == "json" {
		enc := a.encoder()
		enc.SetEscapeHTML(false)
		return firstOf(enc.Encode(map[string]any{"ok": !bad, "files": all}), exitWhen(bad, exitUsage))
	}
	for _, c := range all {
		switch {
		case c.OK:
			fmt.Fprintf(a.out, "%s: ok: %s\n", printable(c.File), printable(c.What))
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
	for _, kind := range validate.Kinds {
		kinds = append(kinds, kind.Name)
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
			kind := validate.Kinds[0]
			switch len(args) {
			case 0:
			case 1:
				if err := oneOf("schema", args[0], kinds...); err != nil {
					return err
				}
				kind = validate.Kinds[slices.Index(kinds, args[0])]
			default:
				return usage(errors.New("schema prints one"), "leakbench schema scenario, host or known")
			}
			_, err := a.out.Write(kind.Schema())
			return err
		},
	}
}
