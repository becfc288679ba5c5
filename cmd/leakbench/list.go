package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/judge/law"
	"github.com/leakbench/leakbench/internal/subject/host"
	"github.com/leakbench/leakbench/scenarios"
)

// item is a row of a list.
type item struct {
	Name string   `json:"name"`
	Text string   `json:"text"`
	More []string `json:"more,omitempty"`
}

var lists = []string{"scenarios", "hosts", "faults", "laws", "kinds"}

func (a *app) listCommand() *cobra.Command {
	var mutants bool
	cmd := &cobra.Command{
		Use:       "list [scenarios|hosts|faults|laws|kinds]",
		Short:     "List what there is",
		ValidArgs: lists,
		RunE: func(_ *cobra.Command, args []string) error {
			what := lists
			if len(args) > 0 {
				what = args
			}
			return a.list(what, len(args) != 1, mutants)
		},
	}
	cmd.Flags().BoolVar(&mutants, "all", false, "also the hosts that break one law each, which the self-test runs")
	return cmd
}

func (a *app) list(what []string, titles, mutants bool) error {
	all := map[string][]item{}
	for _, w := range what {
		if err := oneOf("list", w, lists...); err != nil {
			return err
		}
		var err error
		if all[w], err = itemsOf(w, mutants); err != nil {
			return err
		}
	}
	if a.format == "json" {
		return a.encoder().Encode(all)
	}
	table := a.table()
	for i, w := range what {
		if titles {
			if i > 0 {
				fmt.Fprintln(table)
			}
			fmt.Fprintf(table, "%s\n", strings.ToUpper(w))
		}
		for _, it := range all[w] {
			fmt.Fprintf(table, "%s\t%s\n", it.Name, strings.Join(append([]string{it.Text}, it.More...), "\t"))
		}
		if err := table.Flush(); err != nil {
			return err
		}
	}
	return nil
}

func itemsOf(what string, mutants bool) (items []item, err error) {
	switch what {
	case "scenarios":
		for _, name := range scenarios.Names() {
			s, err := scenarios.Builtin(name)
			if err != nil {
				return nil, err
			}
			items = append(items, item{Name: name, Text: s.Title, More: []string{strings.Join(s.Reports, " ")}})
		}
	case "hosts":
		specs, err := allHosts()
		if err != nil {
			return nil, err
		}
		if mutants {
			specs = append(specs, host.Mutants("leakbench")...)
		}
		for _, s := range specs {
			items = append(items, item{Name: s.Name, Text: s.About})
		}
	case "faults":
		for _, d := range fakeserver.Moments {
			items = append(items, item{Name: "on: " + d.Name, Text: d.Text, More: []string{"do: " + strings.Join(d.With, " ")}})
		}
		for _, d := range fakeserver.Actions {
			items = append(items, item{Name: "do: " + d.Name, Text: d.Text, More: []string{"on: " + strings.Join(d.With, " ")}})
			for _, way := range d.As {
				items = append(items, item{Name: "    as: " + way.Name, Text: way.Text})
			}
		}
	case "laws":
		for _, l := range law.All() {
			items = append(items, item{Name: l.ID, Text: l.Name, More: []string{l.Says}})
		}
	case "kinds":
		for _, k := range law.Kinds() {
			items = append(items, item{Name: k.ID, Text: k.Law, More: []string{k.Title}})
		}
	}
	return items, nil
}
