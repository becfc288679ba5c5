package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/text"
)

// cellsFile is the list of all cells, a line each: system, host, scenario, expected verdict, separated by tabs. It began as what the
// tests of commit 8ac974e5 played, before there were tiers.
const cellsFile = "tools/check/cells.tsv"

// rootRights is what a plain user lacks.
const rootRights = "the rights of root"

// ofRoot are the hosts that only root can play (Root in test/trickhost).
var ofRoot = []string{"trick-other-user", "trick-other-user-host", "trick-private-tmp"}

// mostNamed is how many cells of a kind are printed.
const mostNamed = 20

// compareCells compares what was played with the list. A cell that is missing, or that the list lacks, is an error; --update adds the
// latter. The cells of Windows are played by the group wine alone, and not missed where that is lacking; likewise those of root.
func compareCells(out io.Writer, list string, dirs, lacking []string, update bool) (int, error) {
	wanted, err := readCells(list)
	if err != nil {
		return exitUsage, fmt.Errorf("failed to read the list of cells: %w", err)
	}
	played, err := playedCells(dirs)
	if err != nil {
		return exitUsage, err
	}
	excused := func(cell string) bool {
		field := strings.Split(cell, "\t")
		system, host := field[0], field[1]
		return slices.Contains(lacking, "wine") && system == "windows" ||
			slices.Contains(lacking, rootRights) && slices.Contains(ofRoot, host)
	}
	missing := lines(wanted, func(cell string) bool { return !played[cell] && !excused(cell) })
	added := lines(played, func(cell string) bool { return !wanted[cell] })
	if update && len(added) > 0 {
		maps.Copy(wanted, played)
		content := strings.Join(slices.Sorted(maps.Keys(wanted)), "\n") + "\n"
		if err := os.WriteFile(list, []byte(content), 0o644); err != nil {
			return exitUsage, fmt.Errorf("failed to write the list of cells: %w", err)
		}
		fmt.Fprintf(out, "cells: %d added to %s\n", len(added), list)
		added = nil
	}
	name(out, "of the list, not played", missing)
	name(out, "played, not in the list; go run ./tools/check --update --compare DIR adds them", added)
	if len(missing)+len(added) > 0 {
		return exitRed, nil
	}
	fmt.Fprintf(out, "cells: all %d of the list were played\n", len(wanted)-len(lines(wanted, excused)))
	return exitOK, nil
}

// playedCells are those of the files that the tests have left in some folders.
func playedCells(dirs []string) (map[string]bool, error) {
	played := map[string]bool{}
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(dir, "*.tsv"))
		if err != nil || len(files) == 0 {
			return nil, fmt.Errorf("there are no cells in %s: the tests leave them where LEAKBENCH_CELLS says", dir)
		}
		for _, file := range files {
			cells, err := readCells(file)
			if err != nil {
				return nil, fmt.Errorf("failed to read cells: %w", err)
			}
			maps.Copy(played, cells)
		}
	}
	return played, nil
}

func name(out io.Writer, what string, cells []string) {
	if len(cells) == 0 {
		return
	}
	fmt.Fprintf(out, "cells: %s %s:\n", text.Count(len(cells), "cell"), what)
	for _, cell := range cells[:min(len(cells), mostNamed)] {
		fmt.Fprintf(out, "  %s\n", strings.ReplaceAll(cell, "\t", " | "))
	}
	if len(cells) > mostNamed {
		fmt.Fprintf(out, "  and %d more\n", len(cells)-mostNamed)
	}
}

func lines(cells map[string]bool, are func(cell string) bool) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(cells)), func(cell string) bool { return !are(cell) })
}

func readCells(file string) (map[string]bool, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	cells := map[string]bool{}
	for i, line := range strings.Split(strings.TrimRight(string(content), "\n"), "\n") {
		if line = strings.TrimRight(line, "\r"); line == "" {
			continue
		}
		if strings.Count(line, "\t") != 3 {
			return nil, fmt.Errorf("%s:%d: a cell is system, host, scenario and verdict, separated by tabs: %q", file, i+1, line)
		}
		cells[line] = true
	}
	return cells, nil
}
