package console

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNotByHand(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"x"}, {"0"}, {"1", "2"}} {
		assert.Equal(t, 2, Main(args))
	}
}
