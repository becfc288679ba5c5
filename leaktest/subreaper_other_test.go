//go:build !linux

package leaktest_test

import "testing"

// subreaper: only Linux has them.
func subreaper(*testing.T) int32 { return 0 }
