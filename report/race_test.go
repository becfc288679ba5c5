//go:build race

package report

// raced: under the race detector a browser shows nothing of ours that it does
// not show without it, and takes minutes.
const raced = true
