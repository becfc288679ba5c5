//go:build !linux

package keeper

import (
	"errors"
	"os"

	"github.com/leakbench/leakbench/internal/record"
)

// Lodge is for Linux alone.
func Lodge([]string) int { return 2 }

// Innocent is for Linux alone.
func Innocent() int { return 2 }

type lodging struct{}

func (k *process) startPlaced(string, command, *os.ProcAttr) (*record.Process, error) {
	return nil, noPlace(errors.ErrUnsupported)
}

func (k *process) recycle(command) (*record.Process, error) { return nil, errors.ErrUnsupported }

// TryPlace is for Linux alone.
func TryPlace(record.Place) error { return errors.ErrUnsupported }
