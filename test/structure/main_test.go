// Package structure_test holds the source tree to what it says of itself: who imports whom, sizes, pages, recipes, workflows, and what
// earlier versions wrote.
package structure_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestMain goes to the root of the module: paths are relative to it.
func TestMain(m *testing.M) {
	if err := os.Chdir(filepath.Join("..", "..")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
