package main

import (
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/play/lab"
)

// fastEnv has all tests of a kit fail fast: for the desk, where nobody wants to change them for that.
const fastEnv = "LEAKBENCH_FAST"

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
			p.Self, p.Tool, p.Err = bench.Self, bench.Tool, a.err
			if where {
				_, err := fmt.Fprintln(a.out, bench.Self)
				return err
			}
			var err error
			if given := os.Getenv(fastEnv); given != "" {
				if p.Fast, err = strconv.ParseBool(given); err != nil {
					return usage(fmt.Errorf("%s %q: must be 1 or 0", fastEnv, given), "")
				}
			}
			return usage(lab.Serve(cmd.Context(), p, cmd.InOrStdin(), a.out), "the libraries for tests start it: docs/use/testing.md")
		},
	}
	cmd.Flags().IntVar(&p.PID, "host", os.Getppid(), "the process that launches servers")
	cmd.Flags().StringVarP(&p.Out, "out", "o", ".leakbench", "folder for runs")
	cmd.Flags().BoolVar(&where, "where", false, "print the path of this program and exit")
	return cmd
}
