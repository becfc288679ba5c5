//go:build !linux

package starved

import "github.com/leakbench/leakbench/internal/record"

// benchLoad is not known here.
func benchLoad() record.Load { return record.Load{} }
