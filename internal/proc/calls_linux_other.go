//go:build linux && !amd64 && !arm64

package proc

// Without names a call is shown by its number.
var calls, oldCalls map[int]string
