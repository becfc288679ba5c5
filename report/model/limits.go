package model

// What a report shows of a run at most, in any format.
const (
	FindingsOf  = 100
	DoubtsOf    = 60
	ValuesShown = 6 // of a finding
	HoldsOf     = 8 // likewise
)
