//go:build !linux

package keeper

import (
	"errors"

	"github.com/leakbench/leakbench/internal/record"
)

// startBystander: without a subreaper the keeper waits for the host alone.
func (k *process) startBystander(record.Identity) *record.Process { return nil }

func (k *process) startTwin(command) (*record.Process, error) { return nil, errors.ErrUnsupported }

// Bystander is for Linux alone.
func Bystander() int { return 2 }
