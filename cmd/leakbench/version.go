package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/leakbench/leakbench/internal/record"
)

// Set by release builds (-ldflags "-X main.version=1.2.3 ..."). Others say what
// the toolchain has put into them: go install the module's version, a build in
// a repository its commit.
var version, commit, date = "", "", ""

// buildInfo is what the toolchain has put into the program, and its settings.
func buildInfo() (*debug.BuildInfo, map[string]string) {
	settings := map[string]string{}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return &debug.BuildInfo{GoVersion: "unknown"}, settings
	}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	return info, settings
}

func tool() record.Tool {
	info, settings := buildInfo()
	return record.Tool{Version: cmp.Or(version, info.Main.Version), Commit: cmp.Or(commit, settings["vcs.revision"]), Go: info.GoVersion}
}

// built is the commit's date, and whether the files were others than its.
func built() (when string, modified bool) {
	_, settings := buildInfo()
	when = cmp.Or(date, settings["vcs.time"])
	if at, err := time.Parse(time.RFC3339, when); err == nil {
		when = at.UTC().Format(time.RFC3339)
	}
	return when, settings["vcs.modified"] == "true"
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, its commit and date",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			t := tool()
			when, modified := built()
			if a.format == "json" {
				a.printed = true
				return json.NewEncoder(a.out).Encode(struct {
					record.Tool
					Date     string `json:"date,omitempty"`
					Modified bool   `json:"modified,omitempty"`
				}{t, when, modified})
			}
			words := []string{"leakbench", t.Version}
			if t.Commit != "" {
				words = append(words, "commit", t.Commit)
			}
			if modified {
				words = append(words, "(with changes)")
			}
			if when != "" {
				words = append(words, "of", when)
			}
			_, err := fmt.Fprintln(a.out, strings.Join(append(words, "built with", t.Go), " "))
			return err
		},
	}
}
