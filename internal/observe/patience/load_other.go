//go:build !linux

package patience

import "github.com/leakbench/leakbench/internal/record"

// benchLoad is not known here.
func benchLoad() record.Load { return record.Load{} }

// shareOf is not known here either.
func shareOf(int) (ran, delayed record.Duration, known bool) { return 0, 0, false }

func gone(int) bool { return false }
