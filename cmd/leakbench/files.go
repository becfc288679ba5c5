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
	"github.com/leakbench/leakbench/internal/lists"
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

// interview is how a host file is asked for.
func (a *app) interview(in io.Reader, path, from string) (*hostinit.Interview, error) {
	found, err := hostinit.Configs(from)
	if err != nil {
		return nil, usage(err, "--from takes one of the formats that docs/use/host-file.md lists")
	}
	file, isFile := in.(*os.File)
	return &hostinit.Interview{
		In: in, Out: a.err, Again: isFile && term.IsTerminal(int(file.Fd())),
		Name: hostinit.NameFrom(path), Found: found,
	}, nil
}

// hostFile is a host file from the answers.
func hostFile(answers hostinit.Answers, path string) ([]byte, error) {
	content, err := answers.File(path)
	if errors.As(err, new(yamlfile.Errors)) {
		err = usage(err, "the answers do not make a valid host file; run leakbench init again")
	}
	return content, err
}

// overwrite writes a file where one may be.
func overwrite(path string, content []byte) error {
	if path == defaultHostFile {
		return files.Own(path, 0o644, files.Text(content))
	}
	return files.Named(path, 0o644, files.Text(content))
}

func (a *app) init(cmd *cobra.Command, path, from string, force, untried bool) error {
	if err := checkHostFile(path, force); err != nil {
		return err
	}
	interview, err := a.interview(cmd.InOrStdin(), path, from)
	if err != nil {
		return err
	}
	answers, err := interview.Ask()
	if err != nil {
		return usage(err, "give an answer a line on standard input, or write the file by hand: docs/use/host-file.md")
	}
	content, err := hostFile(answers, path)
	if err != nil {
		return err
	}
	if force {
		err = overwrite(path, content)
	} else {
		err = files.Write(path, content, os.O_EXCL)
	}
	if err != nil {
		return usage(err, "")
	}
	fmt.Fprintf(a.out, "%s is written.\n", text.PrintableLines(path))
	if !untried {
		if err := a.try(cmd.Context(), path, interview, &answers); err != nil {
			return err
		}
	}
	if err := a.writeProject(path, answers.Scenarios()); err != nil {
		return usage(err, "")
	}
	_, err = fmt.Fprintf(a.out, "Next: leakbench run %s --host %s\n", strings.Join(answers.Scenarios(), " "), text.PrintableLines(path))
	return err
}

// try says what was seen of a host whose file was just written, and writes the file again where it says something else.
func (a *app) try(ctx context.Context, path string, interview *hostinit.Interview, answers *hostinit.Answers) error {
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
	if len(seen.Stderr) > 0 {
		fmt.Fprintln(a.out, "Its stderr ends with:")
		for _, line := range seen.Stderr {
			fmt.Fprintln(a.out, "  "+text.PrintableLines(line))
		}
	}
	if seen.Failed != "" {
		return &failure{
			exitHost, fmt.Errorf("the host can't be used as %s says: %s", path, seen.Failed),
			"edit the file, or answer the questions again: leakbench init --force",
		}
	}
	if seen.Servers == "" || string(seen.Servers) == answers.Servers {
		return nil
	}
	return a.correct(path, interview, answers, string(seen.Servers))
}

// correct writes down who has a server, as it was seen, unless whoever answers does not want it.
func (a *app) correct(path string, interview *hostinit.Interview, answers *hostinit.Answers, seen string) error {
	yes, err := interview.Yes(fmt.Sprintf("Shall the file say servers: %s?", seen))
	if err != nil || !yes {
		return usage(err, "")
	}
	answers.Servers = seen
	content, err := hostFile(*answers, path)
	if err != nil {
		return err
	}
	if err := overwrite(path, content); err != nil {
		return usage(err, "")
	}
	_, err = fmt.Fprintf(a.out, "%s is written again: servers: %s.\n", text.PrintableLines(path), seen)
	return err
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
	kinds := lists.Map(project.Kinds, func(k project.Kind) string { return k.Name })
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
