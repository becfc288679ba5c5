package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/leakbench/leakbench/internal/files"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/play/project"
	"github.com/leakbench/leakbench/internal/subject/hostinit"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/internal/yamlfile"
)

const defaultHostFile = "host.yaml"

func (a *app) initCommand() *cobra.Command {
	var from, language string
	var force, untried bool
	cmd := &cobra.Command{
		Use: "init",
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

// checkHostFile says why a host file can't be written to a path.
func checkHostFile(path string, force bool) error {
	if ext := filepath.Ext(path); ext != ".yaml" && ext != ".yml" {
		return usage(fmt.Errorf("%q: the name of a host file ends in .yaml", path), "for example: leakbench init my-gateway.yaml")
	}
	if filepath.Base(path) == project.File {
		return usage(fmt.Errorf("%s is the project file, not a host file", path), "for example: leakbench init my-gateway.yaml")
	}
	if _, err := os.Lstat(path); err == nil && !force {
		return usage(fmt.Errorf("%s is there already", path), "--force overwrites it")
	}
	return nil
}

// interview asks for what a host file says.
func (a *app) interview(in io.Reader, path, from string) (answers hostinit.Answers, content []byte, err error) {
	found, err := hostinit.Configs(from)
	if err != nil {
		return answers, nil, usage(err, "--from takes one of the formats that docs/use/host-file.md lists")
	}
	file, isFile := in.(*os.File)
	interview := hostinit.Interview{
		In: in, Out: a.err, Again: isFile && term.IsTerminal(int(file.Fd())),
		Name: hostinit.NameFrom(path), Found: found,
	}
	if answers, err = interview.Ask(); err != nil {
		return answers, nil, usage(err, "give an answer a line on standard input, or write the file by hand: docs/use/host-file.md")
	}
	content, err = answers.File(path)
	if errors.As(err, new(yamlfile.Errors)) {
		err = usage(err, "the answers do not make a valid host file; run leakbench init again")
	}
	return answers, content, err
}

func (a *app) init(cmd *cobra.Command, path, from string, force, untried bool) error {
	if err := checkHostFile(path, force); err != nil {
		return err
	}
	answers, content, err := a.interview(cmd.InOrStdin(), path, from)
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
	seen, err := play.TryHost(ctx, bench, h.Spec)
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
		Use: "validate",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage(errors.New("no file given"), "for example: leakbench validate mine.yaml")
			}
			return a.printChecked(project.Validate(args, cmd.InOrStdin()))
		},
	}
}

func (a *app) printChecked(all []project.Checked) error {
	bad := slices.ContainsFunc(all, func(c project.Checked) bool { return !c.OK })
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
	for _, kind := range project.Kinds {
		kinds = append(kinds, kind.Name)
	}
	return &cobra.Command{
		Use:       "schema",
		ValidArgs: kinds,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage(errors.New("schema takes one kind of file"), "leakbench schema scenario, host, known or project")
			}
			name := append(args, kinds[0])[0]
			if err := oneOf("schema", name, kinds...); err != nil {
				return err
			}
			_, err := a.out.Write(project.Kinds[slices.Index(kinds, name)].Schema())
			return err
		},
	}
}
