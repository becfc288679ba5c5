//go:build linux

package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// told is what is read of the answers of both commands.
type told struct {
	Outcome string `json:"outcome"`
	Runs    []struct {
		Findings []struct {
			Law   string `json:"law"`
			Kind  string `json:"kind"`
			Count int    `json:"count"`
			Why   string `json:"why"`
		} `json:"findings"`
		Doubts []json.RawMessage `json:"doubts"`
	} `json:"runs"`
	Checks []struct {
		Name  string `json:"name"`
		State string `json:"state"`
		Found string `json:"found"`
	} `json:"checks"`
}

// programs of hosts are not in the machine.
var programs = []string{"python3", "node", "go", "chromium"}

// judge prints a line for each setting, and below it what is not as expected.
func (o options) judge(k kernel, results []result, dir string) bool {
	fmt.Printf("\n%s (%s)\n", k.version, k.suite)
	right := true
	for _, s := range chosen(o.only, versionOf(k.version)) {
		line, wrong := []string{}, []string{}
		plays := 0
		for i, r := range results {
			if r.Setting != s.name {
				continue
			}
			plays++
			folder := filepath.Join(dir, s.folder())
			if err := r.save(folder, i); err != nil {
				wrong = append(wrong, err.Error())
			}
			said, amiss := o.hold(k, s, r)
			line = append(line, said)
			wrong = append(wrong, amiss...)
		}
		if want := 1 + o.times*len(hosts); plays != want {
			wrong = append(wrong, fmt.Sprintf("%d plays, want %d", plays, want))
		}
		fmt.Printf("  %-26s %s\n", s.name, strings.Join(line, "; "))
		for _, w := range wrong {
			fmt.Printf("      NOT AS EXPECTED: %s\n", w)
		}
		right = right && len(wrong) == 0
	}
	return right
}

// hold says what a play came to, and what is wrong with it.
func (o options) hold(k kernel, s setting, r result) (line string, wrong []string) {
	var t told
	if r.Error != "" {
		return r.What + " failed", []string{r.What + ": " + r.Error}
	}
	if err := json.Unmarshal(r.Out, &t); err != nil {
		return r.What + " said nothing", []string{fmt.Sprintf("%s: exit %d, %v, %s", r.What, r.Code, err, bytes.TrimSpace(r.Err))}
	}
	if r.What == "doctor" {
		return s.holdDoctor(versionOf(k.version), r, t)
	}
	i := slices.IndexFunc(hosts, func(h host) bool { return h.name == r.What })
	return o.holdRun(hosts[i], r, t)
}

func (s setting) holdDoctor(kernel version, r result, t told) (line string, wrong []string) {
	var lacks []string
	for _, c := range t.Checks {
		if c.State != "ok" && !slices.Contains(programs, c.Name) {
			lacks = append(lacks, c.Name)
		}
	}
	want := s.lacking(kernel)
	slices.Sort(lacks)
	if r.Code != 0 {
		wrong = append(wrong, fmt.Sprintf("doctor: exit %d", r.Code))
	}
	if !slices.Equal(lacks, want) {
		wrong = append(wrong, fmt.Sprintf("doctor lacks %v, want %v", lacks, want))
		for _, c := range t.Checks {
			if slices.Contains(lacks, c.Name) != slices.Contains(want, c.Name) {
				wrong = append(wrong, fmt.Sprintf("doctor: %s is %s: %s", c.Name, c.State, c.Found))
			}
		}
	}
	return "lacks " + cmp.Or(strings.Join(lacks, " "), "nothing"), wrong
}

const inconclusive = 3

// starvedRight says that a verdict is right of a host on a machine that stands still most of the time. There the host gives up attempts
// and makes others, so that it leaves other numbers of servers.
func (h host) starvedRight(outcome string, code, findings, doubts int) bool {
	if outcome == "inconclusive" {
		return code == inconclusive && doubts > 0 && findings == 0
	}
	return outcome == h.outcome && code == h.code && (findings > 0) == (len(h.findings) > 0)
}

func (o options) holdRun(h host, r result, t told) (line string, wrong []string) {
	var findings, doubts []string
	for _, run := range t.Runs {
		for _, f := range run.Findings {
			findings = append(findings, fmt.Sprintf("%s %s x%d", f.Law, f.Kind, f.Count))
		}
		for _, d := range run.Doubts {
			doubts = append(doubts, string(d))
		}
	}
	slices.Sort(findings)
	line = fmt.Sprintf("%s %s (exit %d, %v)", h.name, t.Outcome, r.Code, r.Took.Round(time.Millisecond))
	if o.slow && h.starvedRight(t.Outcome, r.Code, len(findings), len(doubts)) {
		return line, nil
	}
	if t.Outcome != h.outcome || r.Code != h.code {
		wrong = append(wrong, fmt.Sprintf("%s: %s (exit %d), want %s (exit %d)", h.name, t.Outcome, r.Code, h.outcome, h.code))
	}
	if !slices.Equal(findings, h.findings) {
		wrong = append(wrong, fmt.Sprintf("%s: found %q, want %q", h.name, findings, h.findings))
	}
	if len(wrong) > 0 {
		wrong = append(wrong, doubts...)
	}
	return line, wrong
}

// save keeps what was said beside the machine's console.
func (r result) save(dir string, number int) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	name := filepath.Join(dir, fmt.Sprintf("%02d-%s", number, r.What))
	files := map[string][]byte{name + ".json": r.Out, name + ".stderr": r.Err}
	if len(r.Run) > 0 {
		unpacker, err := gzip.NewReader(bytes.NewReader(r.Run))
		if err != nil {
			return err
		}
		if files[name+".run.jsonl"], err = io.ReadAll(unpacker); err != nil {
			return err
		}
	}
	for path, data := range files {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
