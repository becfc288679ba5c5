package proc

// arm64 never had the calls that amd64 has twice.
var oldCalls map[int]string
