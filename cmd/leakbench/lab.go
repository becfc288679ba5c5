package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/play/lab"
)

// labCommand is for the libraries of tests, which start it from a test and talk to it over its stdin and stdout.
func (a *app) labCommand() *cobra.Command {
	p, where := lab.Params{}, false
	cmd := &cobra.Command{
		Use:    "lab",
		Hidden: true,
		Args:   noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var bench play.Bench
			if err := own(&bench); err != nil {
				return err
			}
			p.Self, p.Tool = bench.Self, bench.Tool
			if where {
				_, err := fmt.Fprintln(a.out, bench.Self)
				return err
			}
			return usage(lab.Serve(cmd.Context(), p, cmd.InOrStdin(), a.out), "the libraries for tests start it: docs/use/testing.md")
		},
	}
	cmd.Flags().IntVar(&p.PID, "host", os.Getppid(), "the process that launches servers")
	cmd.Flags().StringVarP(&p.Out, "out", "o", ".leakbench", "folder for runs")
	cmd.Flags().BoolVar(&where, "where", false, "print the path of this program and exit")
	return cmd
}
