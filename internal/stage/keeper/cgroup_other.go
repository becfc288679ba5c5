//go:build !linux

package keeper

import "errors"

type cgroup struct{ path string }

func newCgroup() (*cgroup, error) { return nil, errors.ErrUnsupported }

func (c *cgroup) kill()   {}
func (c *cgroup) remove() {}

func finishCgroup(string) {}

// TryCgroup is for Linux alone.
func TryCgroup() error { return errors.ErrUnsupported }
