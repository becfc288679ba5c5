package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/leakbench/leakbench/internal/subject/hostinit"
	"github.com/leakbench/leakbench/internal/yamlfile"
)

const defaultHostFile = "host.yaml"

func (a *app) initCommand() *cobra.Command {
	var from string
	var force bool
	cmd := &cobra.Command{
		Use:   "init [FILE.yaml]",
		Short: "Write a host file for your own host, by asking",
		Long: `Write a host file for your own host (` + defaultHostFile + ` where no FILE is given), by asking.
Answers may also come from a pipe, a line each; an empty one takes what stands
in the brackets.

A configuration with MCP servers that is found in a usual place, or named by
--from, tells the format. Nothing else of it is taken over.`,
		Example: "  leakbench init\n  leakbench init my-gateway.yaml --from ~/.config/Claude/claude_desktop_config.json\n  leakbench run storm --host my-gateway.yaml",
		RunE: func(cmd *cobra.Command, args []string) error {
			path := defaultHostFile
			switch len(args) {
			case 0:
			case 1:
				path = args[0]
			default:
				return usage(fmt.Errorf("one file at a time, not %q", args), "")
			}
			return a.init(cmd, path, from, force)
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "configuration to take the format from")
	cmd.Flags().BoolVar(&force, "force", false, "overwrite a file that is there")
	return cmd
}

func (a *app) init(cmd *cobra.Command, path, from string, force bool) error {
	if ext := filepath.Ext(path); ext != ".yaml" && ext != ".yml" {
		return usage(fmt.Errorf("%q: the name of a host file ends in .yaml", path), "for example: leakbench init my-gateway.yaml")
	}
	if _, err := os.Lstat(path); err == nil && !force {
		return usage(fmt.Errorf("%s is there already", path), "--force overwrites it")
	}
	found, err := hostinit.Configs(from)
	if err != nil {
		return usage(err, "--from takes one of the formats that docs/host-file.md lists")
	}
	in := cmd.InOrStdin()
	file, isFile := in.(*os.File)
	interview := hostinit.Interview{
		In: in, Out: a.err, Again: isFile && term.IsTerminal(int(file.Fd())),
		Name: hostinit.NameFrom(path), Found: found,
	}
	answers, err := interview.Ask()
	if err != nil {
		return usage(err, "")
	}
	text, err := answers.File(path)
	var problems yamlfile.Errors
	if errors.As(err, &problems) {
		return usage(err, "the answers do not make a host file")
	}
	if err != nil {
		return err
	}
	how := os.O_EXCL
	if force {
		how = os.O_TRUNC
	}
	if err := writeFile(path, text, how); errors.Is(err, fs.ErrExist) {
		return usage(fmt.Errorf("%s is there already", path), "")
	} else if err != nil {
		return usage(err, "")
	}
	_, err = fmt.Fprintf(a.out, "%s is written. Try it: leakbench run storm --host %s\n", printable(path), printable(path))
	return err
}
