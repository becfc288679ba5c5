package play

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

	"github.com/leakbench/leakbench/internal/bug"
)

// browsers are what may open a page, where the system has nothing that knows the user's own one.
var browsers = []string{
	"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "firefox", "microsoft-edge", "brave-browser",
}

// openers are the commands that open a page on a system, the one to take first.
func openers(system string) [][]string {
	switch system {
	case "darwin":
		return [][]string{{"open"}}
	case "windows":
		return [][]string{{"rundll32", "url.dll,FileProtocolHandler"}}
	}
	all := [][]string{{"xdg-open"}}
	for _, name := range browsers {
		all = append(all, []string{name})
	}
	return all
}

// Browser is the command that opens a page on this machine, its program by its path. BROWSER says which, else it is the first one that is
// there.
func Browser() ([]string, error) {
	all := openers(runtime.GOOS)
	if named := strings.Fields(os.Getenv("BROWSER")); len(named) > 0 {
		all = [][]string{named}
	}
	var tried []string
	var failed error
	for _, argv := range all {
		path, err := exec.LookPath(argv[0])
		if err == nil {
			return append([]string{path}, argv[1:]...), nil
		}
		tried, failed = append(tried, argv[0]), err
	}
	if len(tried) > 1 {
		failed = fmt.Errorf("there is none of %s", strings.Join(tried, ", "))
	}
	return nil, fmt.Errorf("no browser found: %w", failed)
}

// patience is how long an opener may take; it only hands the page over.
const patience = 10 * time.Second

// Browse opens a page in the browser of this machine.
func Browse(page string) error {
	hint := "open " + page + " in a browser; BROWSER names one"
	argv, err := Browser()
	if err != nil {
		return &Misuse{Err: err, Hint: hint}
	}
	argv = append(argv, (&url.URL{Scheme: "file", Path: filepath.ToSlash(page)}).String())
	// A browser stays longer than this command: it is started and not owned.
	cmd := exec.Command(argv[0], argv[1:]...)
	if err := cmd.Start(); err != nil {
		return &Misuse{Err: err, Hint: hint}
	}
	ended := make(chan error, 1)
	go func() {
		defer bug.Ends()
		ended <- cmd.Wait()
	}()
	select {
	case err = <-ended:
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			err = &Misuse{Err: fmt.Errorf("%s: %w", filepath.Base(argv[0]), err), Hint: hint}
		}
	case <-time.After(patience):
	}
	return err
}
