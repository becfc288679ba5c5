package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/leakbench/leakbench/internal/duration"
	"github.com/leakbench/leakbench/internal/files"
	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/play/project"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/internal/yamlfile"
)

// fromProject fills in what the command line does not say from leakbench.yaml, where there is one, and says in a line what it took.
// The names are those of the scenarios to play.
func (a *app) fromProject(cmd *cobra.Command, args []string, f *runFlags) (names []string, err error) {
	names, command := splitAtDash(cmd, args)
	p, err := project.Load()
	var problems yamlfile.Errors
	if errors.As(err, &problems) {
		return nil, usage(err, "docs/use/project-file.md has the format of "+project.File)
	}
	if err != nil { // of too few open files this is the first to suffer
		return nil, cmp.Or(own(&f.bench), usage(err, ""))
	}
	if p.Path == "" {
		return names, nil
	}
	var took []string
	if command == nil && f.host == "" {
		took = hostOfProject(&p, f)
	}
	took = append(took, fastOfProject(&p, cmd, f)...)
	if len(names) == 0 && len(f.choice.levels) == 0 {
		names, f.choice.levels = p.Scenarios, lists.Map(p.Levels, func(l record.Level) string { return string(l) })
		took = append(took, p.Plays()...)
	}
	if !cmd.Flags().Changed("reporter") {
		f.reporters = slices.DeleteFunc(slices.Clone(p.Reporters), func(r string) bool {
			return a.format == "json" && !strings.Contains(r, "=") // which has standard output for itself
		})
		if len(f.reporters) > 0 {
			took = append(took, "reporters "+strings.Join(f.reporters, ", "))
		}
	}
	if len(took) > 0 {
		a.note("%s  %s\n", project.File, text.Printable(strings.Join(took, "; ")))
	}
	return names, nil
}

// hostOfProject takes the host with its times, and says what it took.
func hostOfProject(p *project.Project, f *runFlags) (took []string) {
	if p.Host != "" {
		f.host = p.Host
		took = append(took, "host "+p.Host)
	}
	if p.Settle > 0 && f.bench.Limits.Settle == 0 {
		f.bench.Limits.Settle = p.Settle
		took = append(took, "settle "+duration.Text(p.Settle))
	}
	if p.Confirm > 0 && f.bench.Limits.Confirm == 0 {
		f.bench.Limits.Confirm = p.Confirm
		took = append(took, "confirm "+duration.Text(p.Confirm))
	}
	return took
}

// fastOfProject takes over that the project wants a fast answer, and says so. A gate has no such flag: it takes its time.
func fastOfProject(p *project.Project, cmd *cobra.Command, f *runFlags) []string {
	flag := cmd.Flags().Lookup("fast")
	if !p.Fast || flag == nil || flag.Changed {
		return nil
	}
	f.bench.Limits.Fast = true
	return []string{"fast"}
}

// writeProject writes leakbench.yaml for a host file that has just been written, and says so. One that is there stays as it is.
func (a *app) writeProject(hostFile string, names []string) error {
	err := files.Write(project.File, []byte(project.Text(filepath.ToSlash(hostFile), names)), os.O_EXCL)
	switch {
	case errors.Is(err, fs.ErrExist):
		_, err = fmt.Fprintf(a.out, "%s is there already, and stays as it is.\n", project.File)
	case err == nil:
		_, err = fmt.Fprintf(a.out, "%s is written: leakbench run and leakbench gate need no flags here.\n", project.File)
	}
	return err
}
