package scenarios

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

// Load reads a scenario file. What is wrong with its text is an Errors.
func Load(path string) (*Scenario, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("failed to read the scenario: %w", err)
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, maxSource+1))
	if err != nil {
		return nil, fmt.Errorf("failed to read the scenario: %w", err)
	}
	return Parse(path, src)
}

// Parse reads the text of a scenario; file is what messages call it. The
// error is an Errors with all that is wrong, not only the first of it.
func Parse(file string, src []byte) (*Scenario, error) {
	src = bytes.TrimPrefix(src, []byte("\uFEFF"))
	c := newCollector(file, src)
	root := readTree(src, c)
	if root == nil {
		return nil, c.errors()
	}
	s := readScenario(root)
	if err := c.errors(); err != nil {
		return nil, err
	}
	s.File, s.Source = file, string(src)
	return s, nil
}
