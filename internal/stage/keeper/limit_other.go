//go:build !linux

package keeper

import "errors"

var errNoLimit = errors.New("the open files of another process can't be limited on this system")
