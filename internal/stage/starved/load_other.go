//go:build !linux

package starved

import "github.com/leakbench/leakbench/internal/record"

// benchLoad is not known here.
func benchLoad() record.Load { return record.Load{} }

// delayOf is not known here either.
func delayOf(int) (record.Duration, bool) { return 0, false }

func gone(int) bool { return false }
