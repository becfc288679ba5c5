package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/verdict"
	"github.com/leakbench/leakbench/report"
)

func (a *app) judgeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "judge RUN...",
		Short: "Judge saved runs again",
		Long: `Judge saved runs again. RUN is a run.jsonl, its folder, or .leakbench/latest.
The verdict is a function of the file alone.

` + exitTable,
		Example: "  leakbench judge .leakbench/latest",
		RunE: func(_ *cobra.Command, args []string) error {
			judged, err := judgeAll(args)
			if err != nil {
				return err
			}
			return a.conclude(judged, nil)
		},
	}
}

func judgeAll(paths []string) ([]verdict.Judged, error) {
	if len(paths) == 0 {
		return nil, usage(errors.New("which run?"), "for example: .leakbench/latest")
	}
	var judged []verdict.Judged
	var failed error
	for _, path := range paths {
		run, err := record.Read(path)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		judged = append(judged, verdict.Judged{Run: run, Verdict: verdict.Judge(run), Dir: path})
	}
	if failed != nil {
		return nil, usage(failed, "a run is a folder that leakbench run made, or its run.jsonl")
	}
	return judged, nil
}

func (a *app) reportCommand() *cobra.Command {
	var reporters []string
	var out string
	cmd := &cobra.Command{
		Use:   "report RUN...",
		Short: "Render saved runs: text, json, html",
		Example: `  leakbench report .leakbench/latest --reporter html -o report.html
  leakbench report .leakbench/* --reporter json`,
		RunE: func(_ *cobra.Command, args []string) error {
			if a.format != "text" {
				return usage(errors.New("report has --reporter, not --format"), "for example: --reporter json=report.json")
			}
			for _, r := range reporters {
				if err := knownReporter(r); err != nil {
					return err
				}
			}
			judged, err := judgeAll(args)
			if err != nil {
				return err
			}
			if out != "" && len(reporters) > 1 {
				return usage(errors.New("-o takes the output of one reporter"), "give each its own: --reporter html=a.html,json=b.json")
			}
			for _, r := range reporters {
				if err := a.render(r, out, judged); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().StringSliceVar(&reporters, "reporter", []string{"html"}, "text, json, html; each may be NAME=FILE")
	cmd.Flags().StringVarP(&out, "out", "o", "", "file; default is standard output")
	fixedChoice(cmd, "reporter", "text", "json", "html")
	return cmd
}

func knownReporter(reporter string) error {
	name, _, _ := strings.Cut(reporter, "=")
	return oneOf("--reporter", name, "text", "json", "html")
}

// render writes one reporter's output to a file or to standard output.
func (a *app) render(reporter, out string, judged []verdict.Judged) (err error) {
	name, file, _ := strings.Cut(reporter, "=")
	if file == "" {
		file = out
	}
	w := a.out
	if file != "" {
		f, ferr := os.Create(file)
		if ferr != nil {
			return usage(ferr, "")
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		w = f
	}
	switch name {
	case "html":
		return report.HTML(w, judged)
	case "json":
		code, reason := exitOf(judged)
		return report.JSON(w, judged, report.Exit{Code: code, Reason: reason})
	}
	o := a.textOptions()
	o.Color = o.Color && file == ""
	return report.Text(w, judged, o)
}

func (a *app) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "explain LAW|KIND",
		Short:   "Say what a law asks, or what a kind of leak is and how to fix it",
		Example: "  leakbench explain L3\n  leakbench explain superseded",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return explainable(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage(errors.New("which law or kind?"), "leakbench list laws shows them")
			}
			text, err := verdict.Explain(args[0])
			if err != nil {
				return usage(err, "leakbench list laws and leakbench list kinds show them")
			}
			if a.format == "json" {
				a.printed = true
				return json.NewEncoder(a.out).Encode(map[string]string{"id": args[0], "text": text})
			}
			_, err = fmt.Fprintln(a.out, strings.TrimRight(text, "\n"))
			return err
		},
	}
}

func explainable() []string {
	var names []string
	for _, l := range verdict.Laws() {
		names = append(names, l.ID)
	}
	for _, k := range verdict.Kinds() {
		names = append(names, k.ID)
	}
	return names
}
