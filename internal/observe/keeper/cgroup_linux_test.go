package keeper_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/observe/keeper"
)

// One process may try several at a time: their names differ.
func TestCgroupsAtATime(t *testing.T) {
	t.Parallel()
	if err := keeper.TryCgroup(); err != nil {
		t.Skip("no cgroup can be made here: ", err)
	}
	var trials sync.WaitGroup
	for range 16 {
		trials.Go(func() {
			for range 20 {
				assert.NoError(t, keeper.TryCgroup())
			}
		})
	}
	trials.Wait()
}
