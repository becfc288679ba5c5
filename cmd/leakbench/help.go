package main

import (
	_ "embed"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/spf13/cobra"

	"github.com/leakbench/leakbench/internal/judge/gate"
	"github.com/leakbench/leakbench/internal/judge/known"
	"github.com/leakbench/leakbench/internal/play/project"
	"github.com/leakbench/leakbench/scenarios"
)

// helpTexts has a section for each command: a line with its use, a line about it, and what else the help says. Its examples have one of
// their own.
//
//go:embed help.txtar
var helpTexts []byte

// helps are the sections, by name.
func helps() map[string]string {
	insert := strings.NewReplacer(
		"{exits}", exitTable(), "{reporters}", reporterTable(), "{checks}", checkTable(), "{known}", known.File, "{project}", project.File,
		"{schema}", scenarios.SchemaURL, "{index}", gate.JobIndex, "{host-file}", defaultHostFile, "{driver}", defaultDriver,
	)
	all := map[string]string{}
	for _, section := range txtar.Parse(helpTexts).Files {
		all[section.Name] = insert.Replace(strings.TrimSuffix(string(section.Data), "\n"))
	}
	return all
}

// describe gives a command, and those below it, the help of their paths.
func describe(cmd *cobra.Command, path string, all map[string]string) {
	head, long, _ := strings.Cut(all[path], "\n\n")
	cmd.Use, cmd.Short, _ = strings.Cut(head, "\n")
	cmd.Long, cmd.Example = long, all[path+": examples"]
	for _, sub := range cmd.Commands() {
		describe(sub, strings.TrimPrefix(path+" "+sub.Name(), "leakbench "), all)
	}
}
