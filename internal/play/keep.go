package play

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/leakbench/leakbench/internal/play/scoreboard"
	"github.com/leakbench/leakbench/internal/stage/runner"
)

// cellFile stands in a cell's folder once a run of it is complete.
const cellFile = "cell.json"

// kept is what it says.
type kept struct {
	Key   string `json:"key"` // of all that the run depends on
	Run   string `json:"run"` // the folder beside it
	Alone bool   `json:"alone"`
	Again bool   `json:"again"`
}

// folder is a cell's. What is no plain name gets a mark, so that two that look
// alike do not share one.
func (b *board) folder(c Cell) string {
	return filepath.Join(b.Dir, plain(c.Host.ID), plain(c.Scenario.Name))
}

func plain(name string) string {
	safe := onlyLetters(name, "-_.@", false)
	safe = safe[:min(len(safe), 80)]
	if safe == name && strings.Trim(safe, ".") != "" {
		return safe
	}
	sum := sha256.Sum256([]byte(name))
	return strings.TrimLeft(safe, ".") + "-" + hex.EncodeToString(sum[:4])
}

// fingerprint is of all that a cell's run depends on: the tool, the host with
// its version and its files, the scenario's text, and the limits.
func (b *board) fingerprint(c Cell) (string, error) {
	spec := c.Host.Spec
	spec.Argv = append([]string{}, spec.Argv...)
	if len(spec.Argv) > 0 && spec.Argv[0] == b.Self {
		spec.Argv[0] = "leakbench" // wherever it is kept
	}
	files, program := map[string][]byte{}, ""
	if c.Host.Files != nil { // a preset's: its driver, and what pins its packages
		err := fs.WalkDir(c.Host.Files, ".", func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				files[path], err = fs.ReadFile(c.Host.Files, path)
			}
			return err
		})
		if err != nil {
			return "", err
		}
	}
	if c.Host.File == "" && c.Host.Argv[0] != b.Self {
		program = stamp(c.Host.Argv[0])
	}
	text, err := json.Marshal([]any{b.Tool, b.build(), c.Host.ID, spec, files, program, c.Scenario.Source, b.Seed, b.Limits})
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), err
}

// build tells builds apart of which the version does not: those of somebody who
// works on the bench.
func (b *board) build() string {
	if v := b.Tool.Version; v != "" && v != "(devel)" && !strings.HasSuffix(v, "+dirty") {
		return ""
	}
	return stamp(b.Self)
}

// stamp changes when a file does.
func stamp(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.Size(), info.ModTime().UnixNano())
}

// load takes a cell from an earlier call. The run is judged again: a verdict is
// a function of its file.
func (b *board) load(c Cell) (found scoreboard.Cell, alone, ok bool) {
	dir := b.folder(c)
	var k kept
	text, err := os.ReadFile(filepath.Join(dir, cellFile))
	if err != nil || json.Unmarshal(text, &k) != nil || k.Run != filepath.Base(k.Run) {
		return found, false, false
	}
	if key, err := b.fingerprint(c); err != nil || key != k.Key {
		return found, false, false
	}
	j, err := Load(filepath.Join(dir, k.Run))
	if err != nil {
		return found, false, false
	}
	j.Page = filepath.Join(j.Dir, runner.ReportFile)
	if _, err := os.Stat(j.Page); err != nil && b.page(&j) != nil {
		return found, false, false
	}
	found = b.found(c, j)
	found.Again = k.Again
	return found, k.Alone, true
}

// newRun makes the folder of a run: of the first, in the place of whatever was
// there, or of the one that is played again. Until that one is complete, the
// first stays what is kept.
func (b *board) newRun(c Cell, again bool) (string, error) {
	dir, name, stale := b.folder(c), "run", []string{cellFile, "run", "alone"}
	if again {
		name, stale = "alone", []string{"alone"}
	}
	for _, old := range stale {
		if err := os.RemoveAll(filepath.Join(dir, old)); err != nil {
			return "", err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	run := filepath.Join(dir, name)
	return run, os.Mkdir(run, 0o700)
}

// keep says, in one step, that a cell was played.
func (b *board) keep(c Cell, again bool) error {
	key, err := b.fingerprint(c)
	if err != nil {
		return err
	}
	text, _ := json.Marshal(kept{Key: key, Run: filepath.Base(c.Dir), Alone: c.Alone, Again: again}) // which can't fail
	path := filepath.Join(b.folder(c), cellFile)
	if err := os.WriteFile(path+".new", append(text, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
