//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd || windows)

package leaktest

import (
	"errors"
	"os"
)

func lock(*os.File, bool) error { return errors.ErrUnsupported }
