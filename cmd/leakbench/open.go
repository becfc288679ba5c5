package main

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/stage/runner"
)

func (a *app) openCommand() *cobra.Command {
	var printOnly bool
	cmd := &cobra.Command{
		Use:   "open [RUN]",
		Short: "Open a run's report in the browser: the newest run, if none is named",
		Long: `Open a run's report in the browser: the newest run, if none is named. RUN is a
run's folder, its run.jsonl, or a report. The browser is the one of BROWSER, or
the system's.`,
		Example: "  leakbench open\n  leakbench open .leakbench/20261121-080906-storm-exact",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			run := filepath.Join(".leakbench", "latest")
			if len(args) > 0 {
				run = args[0]
			}
			page, err := pageOf(run)
			if err != nil {
				return err
			}
			fmt.Fprintln(a.out, printable(page))
			if !printOnly {
				err = browse(page)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&printOnly, "print", false, "only print where the report is")
	return cmd
}

// pageOf is the report of a run, which is rendered where there is none yet.
func pageOf(run string) (string, error) {
	info, err := os.Stat(run)
	switch {
	case err != nil:
		return "", usage(fmt.Errorf("no run: %w", err), "leakbench run storm makes one")
	case !info.IsDir() && strings.HasSuffix(run, ".html"):
		return filepath.Abs(run)
	case !info.IsDir():
		run = filepath.Dir(run)
	}
	run, err = filepath.EvalSymlinks(run)
	if err != nil {
		return "", err
	}
	page, err := filepath.Abs(filepath.Join(run, runner.ReportFile))
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(page); err == nil {
		return page, nil
	}
	judged, err := judgeAll([]string{run})
	if err == nil {
		err = play.WritePage(page, play.Listed(judged...), judged...)
	}
	return page, err
}

// opener is the command that opens a page on this system.
func opener(page string) []string {
	if browser := os.Getenv("BROWSER"); browser != "" {
		return append(strings.Fields(browser), page)
	}
	switch runtime.GOOS {
	case "darwin":
		return []string{"open", page}
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler", page}
	}
	return []string{"xdg-open", page}
}

// patience is how long an opener may take; it only hands the page over.
const patience = 10 * time.Second

func browse(page string) error {
	argv := opener((&url.URL{Scheme: "file", Path: filepath.ToSlash(page)}).String())
	hint := "open " + page + " in a browser; BROWSER names one"
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return usage(fmt.Errorf("no browser to open the page with: %w", err), hint)
	}
	// A browser stays longer than this command: it is started and not owned.
	cmd := exec.Command(path, argv[1:]...)
	if err := cmd.Start(); err != nil {
		return usage(err, hint)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err = <-ended:
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			err = usage(fmt.Errorf("%s: %w", argv[0], err), hint)
		}
	case <-time.After(patience):
	}
	return err
}
