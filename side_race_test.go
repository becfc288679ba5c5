//go:build race

package leakbench_test

// sideBySide is how many runs go side by side for each processor. Under the
// race detector every process of a run costs several times as much.
const sideBySide = 1

const raceDetector = true
