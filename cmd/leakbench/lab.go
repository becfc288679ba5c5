package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/play/lab"
)

// labCommand is for the libraries of other languages, which start it from a test and talk to it over its stdin and stdout.
func (a *app) labCommand() *cobra.Command {
	p := lab.Params{}
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
			return usage(lab.Serve(cmd.Context(), p, cmd.InOrStdin(), a.out), "the libraries for Python and Node start it: docs/use/testing.md")
		},
	}
	cmd.Flags().IntVar(&p.PID, "host", os.Getppid(), "the process that launches servers")
	cmd.Flags().StringVarP(&p.Out, "out", "o", ".leakbench", "folder for runs")
	return cmd
}
