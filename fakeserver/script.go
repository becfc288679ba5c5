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
