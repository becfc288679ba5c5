package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/leakbench/leakbench/internal/duration"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/report/words"
)

func (a *app) runsCommand() *cobra.Command {
	var out, older string
	cmd := &cobra.Command{
		Use:  "runs",
		Args: ofSubcommands,
		RunE: func(*cobra.Command, []string) error { return a.runs(out) },
	}
	cmd.PersistentFlags().StringVarP(&out, "out", "o", ".leakbench", "folder of the runs")
	prune := &cobra.Command{
		Use:  "prune",
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return a.pruneRuns(out, older) },
	}
	prune.Flags().StringVar(&older, "older", "", "the age: a number with d, h or m")
	cmd.AddCommand(prune)
	return cmd
}

func (a *app) runs(out string) error {
	all, err := play.SavedRuns(out)
	if err != nil {
		return err
	}
	if a.format == "json" {
		return a.object(append([]play.SavedRun{}, all...), pretty)
	}
	table := a.table()
	for _, r := range all {
		fmt.Fprintf(table, "%s\t%s\t%s\n", text.Printable(r.Name), r.Written.Format(time.DateTime), words.Size(r.Bytes))
	}
	fmt.Fprintf(table, "%s\t\t%s\n", text.Count(len(all), "run"), words.Size(sum(all)))
	return table.Flush()
}

func sum(all []play.SavedRun) (bytes int64) {
	for _, r := range all {
		bytes += r.Bytes
	}
	return bytes
}

func (a *app) pruneRuns(out, older string) error {
	age, err := ageOf(older)
	if err != nil {
		return usage(err, "for example: leakbench runs prune --older 14d")
	}
	gone, err := play.PruneRuns(out, time.Now().Add(-age))
	if err != nil {
		return err
	}
	if a.format == "json" {
		return a.object(append([]play.SavedRun{}, gone...), pretty)
	}
	_, err = fmt.Fprintf(a.out, "removed %s, %s\n", text.Count(len(gone), "run"), words.Size(sum(gone)))
	return err
}

const day = 24 * time.Hour

// ageOf reads an age, which may have days. None is an error: nobody means all runs by leaving it out.
func ageOf(age string) (time.Duration, error) {
	if age == "" {
		return 0, errors.New("--older is not given")
	}
	if number, isDays := strings.CutSuffix(age, "d"); isDays {
		days, err := strconv.Atoi(number)
		if err != nil || days < 0 || days > 36_500 {
			return 0, fmt.Errorf("--older %q: is no number of days", age)
		}
		return time.Duration(days) * day, nil
	}
	var d duration.Flag
	if err := d.Set(age); err != nil {
		return 0, fmt.Errorf("--older %q: %w", age, err)
	}
	return time.Duration(d), nil
}
