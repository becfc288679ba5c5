//go:build race

package leakbench_test

const raceDetector = true
