//go:build !race

package leakbench_test

// sideBySide is how many runs go side by side for each processor: a run mostly
// waits.
const sideBySide = 3

const raceDetector = false
