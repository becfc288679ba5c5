package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// flakyGo is a go whose tests fail at the first try. What is played alone is a second one.
const flakyGo = `#!/bin/bash
package=${@: -1}
event() { echo "{\"Action\":\"$1\",\"Package\":\"$package\",\"Test\":\"$2\",\"Output\":\"$3\"}"; }
[ "$3 $6 $7" = "-count=1 -race -run" ] && case "$*" in
*broken) event fail TestA/one; exit 1 ;;
*) event pass TestA/one; exit 0 ;;
esac
event pass TestB
case "$*" in
*race) event output TestA/one "WARNING: DATA RACE\\n" ;;
*panic) event output "" "panic: oh\\n" ;;
*four) for test in TestC TestD TestE; do event fail $test; done ;;
*silent) event fail ""; exit 1 ;;
esac
event fail TestA/one
event fail TestA
event fail ""
exit 1
`

// TestASecondTry: a single test that fails may be a chance. A race, a panic, a test binary that fails and many that fail are none.
func TestASecondTry(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(bin, "go"), []byte(flakyGo), 0o755))
	for packages, line := range map[string]string{
		"flaky":  "2 tests; at the second try only: TestA/one",
		"broken": "1 test, 1 failed",
		"race":   "1 test, 1 failed",
		"panic":  "1 test, 1 failed",
		"four":   "1 test, 4 failed",
		"silent": "1 test",
	} {
		var out bytes.Buffer
		b := &bench{root: t.TempDir(), work: t.TempDir(), out: &out}
		g := group{name: "played", packages: packages, flags: "-race", env: []string{"PATH=" + bin + ":" + os.Getenv("PATH")}}
		results := b.playAll(t.Context(), []group{g})
		assert.Equal(t, packages != "flaky", results[0].red(true), packages)
		assert.Regexp(t, `(ok|FAIL)  +played +\d+s  `+line+"\n", out.String(), packages)
	}
}

func TestPatterns(t *testing.T) {
	t.Parallel()
	assert.Equal(t, `^TestA$/^what\.is_\{"it.s"\}$`, testName{"p", `TestA/what.is_{"it's"}`}.pattern())
}
