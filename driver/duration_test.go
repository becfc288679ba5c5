package driver_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/driver"
)

func TestDurationIsTextInJSON(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(driver.Duration(1500 * time.Millisecond))
	require.NoError(t, err)
	assert.Equal(t, `"1.5s"`, string(text))
	var d driver.Duration
	require.NoError(t, json.Unmarshal(text, &d))
	assert.Equal(t, 1500*time.Millisecond, d.D())
	assert.Error(t, json.Unmarshal([]byte(`"soon"`), &d))
}
