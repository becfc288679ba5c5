package fakeserver

import "time"

// Script is what a fake server does wrong, and when. The zero Script is a
// correct server of the legacy era.
type Script struct {
	// Era is which protocol the server speaks: "legacy" (initialize; it refuses
	// server/discover; the default), "legacy-mute" (initialize; it ignores
	// server/discover), "modern" (server/discover, no initialize) or "dual".
	Era    string  `json:"era,omitempty"`
	Faults []Fault `json:"faults,omitempty"`
}

// Fault is one thing that a server does wrong. See Moments and Deeds for the
// values that On and Do may have, and which of them go together.
type Fault struct {
	// On is the moment: one of Moments.
	On string `json:"on"`
	// Do is the deed: one of Deeds.
	Do string `json:"do"`
	// As is the way in which it is done, where the deed has several: see the
	// deed's Doc. "" is the first of them.
	As string `json:"as,omitempty"`

	// Launch is the launch of the label that does it: 1 is the first of a run.
	// 0 is every launch, unless Every is set.
	Launch int `json:"launch,omitempty"`
	// Every makes each Nth launch do it.
	Every int `json:"every,omitempty"`
	// Probability has only some of those launches do it, each with this chance.
	// Which ones it is follows from the run's seed, the label and the launch.
	// 0 is all of them.
	Probability float64 `json:"probability,omitempty"`
	// After has a launch let the moment pass so many times first, of the calls
	// that Tool selects; each one from then on is met with the fault.
	After int `json:"after,omitempty"`

	Tool string   `json:"tool,omitempty"` // on call: only calls of this tool
	For  Duration `json:"for,omitempty"`  // delay: how long
	Each Duration `json:"each,omitempty"` // progress, swell: the pause between two
	MiB  int      `json:"mib,omitempty"`  // grow, swell: to how much resident memory; long-line, flood-stderr: how much
	Step int      `json:"step,omitempty"` // swell: by how much at a time, in MiB
	Code int      `json:"code,omitempty"` // exit: the exit status

	Count int `json:"count,omitempty"` // helper, zombies: how many processes; 0 is 1

	targets []int // whom it was announced to signal
}

// Duration is a time.Duration that reads and writes as text ("1.5s").
type Duration time.Duration

// MarshalText implements encoding.TextMarshaler.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	*d = Duration(v)
	return err
}
