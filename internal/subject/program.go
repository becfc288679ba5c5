package subject

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

// program is a driver of somebody else's.
func program(given string) (Spec, error) {
	path, err := filepath.Abs(given)
	var argv []string
	if err == nil {
		argv, err = started(path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Spec{}, fmt.Errorf("no driver %q: %w", given, fs.ErrNotExist)
	case errors.Is(err, fs.ErrPermission):
		return Spec{}, fmt.Errorf("%q can't be started as a driver: %w; chmod +x %s", given, fs.ErrPermission, text.Shell([]string{given}))
	case err != nil:
		return Spec{}, fmt.Errorf("%q can't be started as a driver: %w", given, err)
	}
	return Spec{
		Name: filepath.Base(path), About: "a driver program (docs/use/driver-protocol.md)",
		Kind: record.KindDriver, Argv: argv, Profile: unknownProfile(),
	}, nil
}
