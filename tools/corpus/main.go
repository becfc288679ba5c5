// Command corpus keeps the corpus of the judge (test/corpus): it adds runs, and tells what the runs hold.
//
//	go run ./tools/corpus collect go test ./internal/judge/... ./internal/history   adds each run that a command judges
//	go run ./tools/corpus add FILE ...                                              adds run files
//	go run ./tools/corpus ablate [-update] [NAME ...]                               switches special cases of the judge off, one at a time
//
// A run that is there already is not added again, nor is one of a host and a scenario of which a run is there that is judged alike. After
// that, go test ./test/corpus -update writes down what is said of what is new. collect builds what it starts with
// GOFLAGS=-overlay, so that internal/history hands out each run that it folds.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	var err error
	switch args := os.Args[1:]; {
	case len(args) > 1 && args[0] == "collect":
		err = collect(args[1:])
	case len(args) > 1 && args[0] == "add":
		err = addFiles(args[1:])
	case len(args) > 0 && args[0] == "ablate":
		err = ablate(args[1:])
	default:
		err = errors.New("one of collect, add and ablate; go doc ./tools/corpus")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "corpus:", err)
		os.Exit(1)
	}
}

// overlaid is an environment in which the go command reads other texts in the place of files of this module.
func overlaid(dir string, texts map[string]string) ([]string, error) {
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	replace := map[string]string{}
	for file, text := range texts {
		other := filepath.Join(dir, strings.ReplaceAll(file, "/", "-"))
		if err := os.WriteFile(other, []byte(text), 0o644); err != nil {
			return nil, err
		}
		replace[filepath.Join(root, filepath.FromSlash(file))] = other
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, err
	}
	overlay := filepath.Join(dir, "overlay.json")
	return append(os.Environ(), "GOFLAGS=-overlay="+overlay), os.WriteFile(overlay, list, 0o644)
}

// command runs a command in an environment, and shows what it says.
func command(env, argv []string) error {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.Stdout, cmd.Stderr = env, os.Stdout, os.Stderr
	return cmd.Run()
}
