package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/leakbench/leakbench/internal/files"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/play/project"
	"github.com/leakbench/leakbench/internal/play/trial"
	"github.com/leakbench/leakbench/internal/play/validate"
	"github.com/leakbench/leakbench/internal/subject/hostinit"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/internal/yamlfile"
	"github.com/leakbench/leakbench/scenarios"
)

const defaultHostFile = "host.yaml"

func (a *app) initCommand() *cobra.Command {
	var from, language string
	var force, untried bool
	cmd := &cobra.Command{
		Use:   "init [FILE.yaml | --driver LANGUAGE [FOLDER]]",
		Short: "Write a host file for your own host, by asking, and try it, or a driver for your own client",
		Long: `Write a host file for your own host (` + defaultHostFile + ` where no FILE is given), by asking at
most five questions. Then the host is started as the file says, used a little and
ended, and you are told what was seen. Answers may also come from a pipe, a line
each; an empty one takes what stands in the brackets.

A configuration with MCP servers that is found in a usual place, or named by
--from, tells the format. Nothing else of it is taken over.

Where there is no ` + project.File + ` yet, one is written beside it, so that leakbench run and
leakbench gate need no flags.

Exit codes: 0 written and tried, 2 wrong answers, 4 written, and the host could
not be used as the file says.

With --driver, write a driver of 30 lines into FOLDER (` + defaultDriver + `): your own
open, call and close go where those of the official SDK stand.`,
		Example: "  leakbench init\n" +
			"  leakbench init my-gateway.yaml --from ~/.config/Claude/claude_desktop_config.json\n" +
			"  leakbench run storm --host my-gateway.yaml\n" +
			"  leakbench init --driver python",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage(fmt.Errorf("init writes one file, not %d", len(args)), "for example: leakbench init my-gateway.yaml")
			}
			if language != "" {
				return a.initDriver(language, append(args, defaultDriver)[0], force)
			}
			return a.init(cmd, append(args, defaultHostFile)[0], from, force, untried)
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "MCP configuration file to take the format from")
	cmd.Flags().BoolVar(&force, "force", false, "overwrite an existing file")
	choiceFlag(cmd, cmd.Flags(), &language, "driver", "",
		"write a driver instead: "+strings.Join(hostinit.Languages(), ", "), hostinit.Languages()...)
	cmd.Flags().BoolVar(&untried, "no-try", false, "write the file and start nothing")
	return cmd
}

func (a *app) init(cmd *cobra.Command, path, from string, force, untried bool) error {
	if ext := filepath.Ext(path); ext != ".yaml" && ext != ".yml" {
		return usage(fmt.Errorf("%q: the name of a host file ends in .yaml", path), "for example: leakbench init my-gateway.yaml")
	}
	if filepath.Base(path) == project.File {
		return usage(fmt.Errorf("%s is the project file, not a host file", path), "for example: leakbench init my-gateway.yaml")
	}
	if _, err := os.Lstat(path); err == nil && !force {
		return usage(fmt.Errorf("%s is there already", path), "--force overwrites it")
	}
	found, err := hostinit.Configs(from)
	if err != nil {
		return usage(err, "--from takes one of the formats that docs/use/host-file.md lists")
	}
	in := cmd.InOrStdin()
	file, isFile := in.(*os.File)
	interview := hostinit.Interview{
		In: in, Out: a.err, Again: isFile && term.IsTerminal(int(file.Fd())),
		Name: hostinit.NameFrom(path), Found: found,
	}
	answers, err := interview.Ask()
	if err != nil {
		return usage(err, "give an answer a line on standard input, or write the file by hand: docs/use/host-file.md")
	}
	content, err := answers.File(path)
	var problems yamlfile.Errors
	if errors.As(err, &problems) {
		return usage(err, "the answers do not make a valid host file; run leakbench init again")
	}
	if err != nil {
		return err
	}
	switch {
	case !force:
		err = files.Write(path, content, os.O_EXCL)
	case path == defaultHostFile:
		err = files.Own(path, 0o644, files.Text(content))
	default:
		err = files.Named(path, 0o644, files.Text(content))
	}
	if err != nil {
		return usage(err, "")
	}
	fmt.Fprintf(a.out, "%s is written.\n", text.PrintableLines(path))
	if !untried {
		if err := a.try(cmd.Context(), path); err != nil {
			return err
		}
	}
	if err := a.writeProject(path, answers.Scenarios()); err != nil {
		return usage(err, "")
	}
	_, err = fmt.Fprintf(a.out, "Next: leakbench run %s --host %s\n", strings.Join(answers.Scenarios(), " "), text.PrintableLines(path))
	return err
}

// try says what was seen of a host whose file was just written.
func (a *app) try(ctx context.Context, path string) error {
	var bench play.Bench
	if err := own(&bench); err != nil {
		return err
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	h, err := hostOf(bench.Self, path, nil)
	if err != nil {
		return err
	}
	seen, err := trial.Try(ctx, bench, h.Spec)
	if err != nil {
		return err
	}
	for _, line := range seen.Lines {
		fmt.Fprintln(a.out, text.PrintableLines(line))
	}
	if seen.Failed != "" {
		return &failure{
			exitHost, fmt.Errorf("the host can't be used as %s says: %s", path, seen.Failed),
			"edit the file, or answer the questions again: leakbench init --force",
		}
	}
	return nil
}

func (a *app) validateCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "validate FILE...",
		Short: "Check scenario files, host files, known findings and leakbench.yaml without running anything",
		Long: `Check scenario files, host files, lists of known findings and ` + project.File + `
without running anything, and report each problem with its place. The keys of a file
tell what it is. - is standard input. The exit code is 0 if all files are right, else 2.

An editor can do most of this while you write: see leakbench schema.`,
		Example: "  leakbench validate mine.yaml\n  leakbench validate .leakbench/known.yaml\n  leakbench validate *.yaml --format json",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage(errors.New("no file given"), "for example: leakbench validate mine.yaml")
			}
			return a.printChecked(validate.Files(args, cmd.InOrStdin()))
		},
	}
}

func (a *app) printChecked(all []validate.Checked) error {
	bad := slices.ContainsFunc(all, func(c validate.Checked) bool { return !c.OK })
	if a.format == "json" {
		return cmp.Or(a.object(map[string]any{"ok": !bad, "files": all}, plain), exitWhen(bad, exitUsage))
	}
	for _, c := range all {
		switch {
		case c.OK:
			fmt.Fprintf(a.out, "%s: ok: %s\n", text.PrintableLines(c.File), text.PrintableLines(c.What))
		case c.Error != "":
			fmt.Fprintf(a.out, "%s: %s\n", text.PrintableLines(c.File), text.PrintableLines(c.Error))
		default:
			fmt.Fprintln(a.out, text.PrintableLines(c.Problems.Error()))
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
		Use:   "schema [scenario|host|known|project]",
		Short: "Print the JSON Schema of a kind of files, for editors",
		Long: `Print the JSON Schema (draft 2020-12) of scenario files, host files, the list of
known findings or ` + project.File + `. An editor with a YAML language server completes and checks a
file that begins with

  # yaml-language-server: $schema=` + scenarios.SchemaURL + `

(host, known and project.schema.json) or with the path of a copy. Only leakbench
validate checks what depends on the rest of a file, such as a session that is not
open, or faults that contradict each other.`,
		Example:   "  leakbench schema > scenario.schema.json\n  leakbench schema known > known.schema.json",
		ValidArgs: kinds,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage(errors.New("schema takes one kind of file"), "leakbench schema scenario, host, known or project")
			}
			name := append(args, kinds[0])[0]
			if err := oneOf("schema", name, kinds...); err != nil {
				return err
			}
			_, err := a.out.Write(validate.Kinds[slices.Index(kinds, name)].Schema())
			return err
		},
	}
}
