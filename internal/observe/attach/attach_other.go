//go:build !linux

package attach

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/leakbench/leakbench/internal/record"
)

// Find is for Linux alone.
func Find(string) ([]record.Process, error) { return nil, Supported() }

// Supported is nil where a host can be watched.
func Supported() error {
	return fmt.Errorf("a running host can be watched on Linux only, not on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

// Run is for Linux alone.
func Run(context.Context, Params, time.Duration) error { return Supported() }
