package install

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/lines"
)

// ErrUnlisted says that a package manager has no way to list the versions of a package.
var ErrUnlisted = errors.New("its package manager can't list versions")

var listed = regexp.MustCompile(`(?m)^Available versions: (.*)$`)

// Versions are those of a package that its registry has for this machine, the oldest first, without those before a release.
func Versions(ctx context.Context, runtime, pkg string) ([]string, error) {
	name, _, _ := strings.Cut(pkg, "[") // without extras
	switch runtime {
	case "python":
		out, err := output(ctx, python, "-m", "pip", "index", "versions", "--disable-pip-version-check", "--", name)
		m := listed.FindSubmatch(out)
		if err != nil || m == nil {
			return nil, fmt.Errorf("pip lists no versions of %s: %w", name, errors.Join(err, bytesError(out)))
		}
		all := strings.Split(string(m[1]), ", ")
		slices.Reverse(all)
		return all, nil
	case "node":
		out, err := output(ctx, npm, "view", "--json", "--", name, "versions")
		var all []string
		if err = errors.Join(err, json.Unmarshal(out, &all)); err != nil {
			return nil, fmt.Errorf("npm lists no versions of %s: %w", name, err)
		}
		return slices.DeleteFunc(all, func(v string) bool { return strings.Contains(v, "-") }), nil
	}
	return nil, ErrUnlisted
}

func bytesError(out []byte) error {
	line, _, _ := bytes.Cut(bytes.TrimSpace(out), []byte("\n"))
	return errors.New(strings.ToValidUTF8(string(line[:min(len(line), lineMax)]), "?"))
}

// outputMax is how much of what a program prints is kept, in bytes. npm lists some 100 kB for a package with many versions.
const outputMax = 16 << 20

// output is the beginning of what a program prints, whose every process ends with it when ctx does.
func output(ctx context.Context, argv ...string) ([]byte, error) {
	argv = started(argv)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.WaitDelay = killDelay
	out := lines.Head{Max: outputMax}
	cmd.Stdout = &out
	err := run(cmd)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return out.Bytes(), err
}
