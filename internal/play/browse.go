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

// Browse opens a page in the browser of this machine.
func Browse(page string) error {
	argv := opener((&url.URL{Scheme: "file", Path: filepath.ToSlash(page)}).String())
	hint := "open " + page + " in a browser; BROWSER names one"
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return &Misuse{Err: fmt.Errorf("no browser found: %w", err), Hint: hint}
	}
	// A browser stays longer than this command: it is started and not owned.
	cmd := exec.Command(path, argv[1:]...)
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
			err = &Misuse{Err: fmt.Errorf("%s: %w", argv[0], err), Hint: hint}
		}
	case <-time.After(patience):
	}
	return err
}
