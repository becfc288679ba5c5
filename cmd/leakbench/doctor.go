package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/leakbench/leakbench/internal/play/doctor"
)

func (a *app) doctorCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what this machine and this user can see of a run",
		Long: `Say what this machine and this user can see of a run and do to it. Each thing is
really tried, a whole run last. Every line is ok, weaker (runs work, and see or do
less) or missing, with what follows from it and what to do. What weakens a witness
stands in the header of every run made here, too.

Exit status 0 when runs work here, whatever else is weaker or missing; 70 when none
does; 128+n when stopped by signal n.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			self, err := os.Executable()
			if err != nil {
				return err
			}
			ctx, stop := interruptible(cmd.Context())
			defer stop()
			checks := doctor.Diagnose(doctor.Look(ctx, doctor.Params{Self: self, Out: out, Tool: tool()}))
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := a.printChecks(checks); err != nil {
				return err
			}
			return exitWhen(!doctor.Works(checks), exitBug)
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", ".leakbench", "folder in which runs would be saved")
	return cmd
}

func (a *app) printChecks(checks []doctor.Check) error {
	if a.format == "json" {
		enc := a.encoder()
		enc.SetEscapeHTML(false)
		return enc.Encode(map[string]any{"ok": doctor.Works(checks), "checks": checks})
	}
	table := a.table()
	for _, c := range checks {
		fmt.Fprintf(table, "%s\t%s\t%s\n", c.State, c.Name, c.Found)
		if c.State != doctor.OK {
			fmt.Fprintf(table, "\t\t  %s\n", c.Means)
			fmt.Fprintf(table, "\t\t  to do: %s\n", c.Do)
		}
	}
	return table.Flush()
}
