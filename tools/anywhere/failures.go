package main

import (
	"regexp"
	"slices"
	"strings"
)

var (
	failedTest    = regexp.MustCompile(`^\s*--- FAIL: (\S+) \(`)
	runningTest   = regexp.MustCompile(`^\t\t((?:Test|Example|Fuzz)\S*) \(`) // a test binary lists these after a timeout
	failedPackage = regexp.MustCompile(`^FAIL\t(\S+)(?: (\[.+\]))?`)
)

// failures returns the failed tests of each failed package, from the output of `go test`: "package: TestA, TestB/sub". A package that
// ran no test is named alone.
func failures(log string) (all []string) {
	var tests []string
	for line := range strings.Lines(log) {
		line = strings.TrimRight(line, "\r\n")
		if m := failedTest.FindStringSubmatch(line); m != nil {
			tests = append(tests, m[1])
		} else if m := runningTest.FindStringSubmatch(line); m != nil {
			tests = append(tests, m[1]+" (running at the end)")
		} else if m := failedPackage.FindStringSubmatch(line); m != nil {
			name := strings.TrimPrefix(m[1], "github.com/leakbench/leakbench/")
			if m[2] != "" {
				name += " " + m[2]
			}
			if len(tests) > 0 {
				name += ": " + strings.Join(leaves(tests), ", ")
			}
			all, tests = append(all, name), nil
		}
	}
	if len(tests) > 0 { // a test binary without `go test` names no package
		all = append(all, strings.Join(leaves(tests), ", "))
	}
	return all
}

// leaves drops tests of which a subtest has failed, and duplicates.
func leaves(tests []string) (names []string) {
	for _, name := range tests {
		parent := slices.ContainsFunc(tests, func(other string) bool { return strings.HasPrefix(other, name+"/") })
		if !parent && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
