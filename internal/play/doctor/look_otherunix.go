//go:build unix && !linux

package doctor

// unixOnly is for Windows.
var unixOnly []string
