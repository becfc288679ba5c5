// Package scoreboard is the scoreboard: what each host came to in each scenario. It
// is a function of what was played; it plays nothing itself.
package scoreboard

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/leakbench/leakbench/internal/record"
)

// Status is a cell in one word.
type Status string

// The statuses. NotApplicable is never a pass: something that the scenario
// needs can't be asked of the host, and the cell says what and why.
const (
	Clean         Status = "clean"
	Leak          Status = "leak"
	Inconclusive  Status = "inconclusive"
	NotApplicable Status = "n.a."
	NotInstalled  Status = "not installed"
)

// Statuses are all of them, in the order in which they are counted.
var Statuses = []Status{Clean, Leak, Inconclusive, NotApplicable, NotInstalled}

// Board is what `leakbench score` found. Its JSON is what -o FILE.json writes.
type Board struct {
	Made      time.Time     `json:"made"`
	Tool      record.Tool   `json:"tool"`
	System    record.System `json:"system"`
	Command   []string      `json:"command"` // what makes it again
	Jobs      int           `json:"jobs"`    // runs side by side
	Scenarios []Scenario    `json:"scenarios"`
	Omitted   []string      `json:"omitted"` // built-in scenarios that were not asked for
	Hosts     []Host        `json:"hosts"`
	Cells     []Cell        `json:"cells"` // one for each scenario and host, scenario by scenario
}

// Scenario is a row.
type Scenario struct {
	Name  string `json:"name"`
	Title string `json:"title"`
}

// Host is a column.
type Host struct {
	ID      string `json:"id"` // what --host takes
	Name    string `json:"name"`
	Version string `json:"version"` // "" where neither its file nor its hello says it
	About   string `json:"about"`
	Missing string `json:"missing,omitempty"` // why it could not be played at all
	Install string `json:"install,omitempty"` // what brings it, with Missing
}

// Cell is a host in a scenario.
type Cell struct {
	Scenario string          `json:"scenario"`
	Host     string          `json:"host"` // Host.ID
	Status   Status          `json:"status"`
	Errors   []Broken        `json:"errors"`           // laws, in their order
	Warnings []Broken        `json:"warnings"`         // likewise
	Doubts   []record.Doubt  `json:"doubts"`           // of a run that was played
	Reason   string          `json:"reason,omitempty"` // of n.a. and not installed
	Again    bool            `json:"again"`            // it was inconclusive beside others, and this is what it came to alone
	Resumed  bool            `json:"resumed"`          // played by an earlier call
	Took     record.Duration `json:"took"`             // the run, by its own clock
	Seed     uint64          `json:"seed"`
	Command  []string        `json:"command,omitempty"` // what plays it again
	Run      string          `json:"run,omitempty"`     // its folder
	Page     string          `json:"page,omitempty"`    // its report
}

// Broken is a law that was broken, with the findings that say so.
type Broken struct {
	Law      string    `json:"law"`
	Findings []Finding `json:"findings"`
}

// Finding is a finding in short; the run's report has all of it.
type Finding struct {
	Kind        string `json:"kind"`
	Count       int    `json:"count"`
	Title       string `json:"title"`
	Fingerprint string `json:"fingerprint"`
}

// maxBoard is how many bytes of a scoreboard's file are read.
const maxBoard = 64 << 20

// Read reads a scoreboard that was written as JSON. Its strings are whoever's:
// the renderers take them for that.
func Read(name string, r io.Reader) (*Board, error) {
	var b Board
	d := json.NewDecoder(io.LimitReader(r, maxBoard))
	d.DisallowUnknownFields()
	if err := d.Decode(&b); err != nil {
		return nil, fmt.Errorf("%s is no scoreboard: %w", name, err)
	}
	if len(b.Hosts) == 0 || len(b.Scenarios) == 0 {
		return nil, fmt.Errorf("%s is no scoreboard: it has no hosts or no scenarios", name)
	}
	return &b, nil
}

// Host is the host of that id, or nil.
func (b *Board) Host(id string) *Host {
	for i := range b.Hosts {
		if b.Hosts[i].ID == id {
			return &b.Hosts[i]
		}
	}
	return nil
}

// Cell is the cell of a scenario and a host, or nil.
func (b *Board) Cell(scenario, host string) *Cell {
	for i := range b.Cells {
		if b.Cells[i].Scenario == scenario && b.Cells[i].Host == host {
			return &b.Cells[i]
		}
	}
	return nil
}

// Count is how many cells there are of each status, of one host, or of all
// where host is "".
func (b *Board) Count(host string) map[Status]int {
	n := map[Status]int{}
	for i := range b.Cells {
		if host == "" || b.Cells[i].Host == host {
			n[b.Cells[i].Status]++
		}
	}
	return n
}
