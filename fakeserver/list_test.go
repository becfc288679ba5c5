package fakeserver_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/fakeserver"
)

// TestLists: the server declares what it lists, and lists it.
func TestLists(t *testing.T) {
	t.Parallel()
	p, _ := one(t, "").launch("s")
	p.send(initialize)
	greeting := p.answer().raw
	for what, names := range map[string][]string{"tools": fakeserver.Tools, "resources": fakeserver.Resources, "prompts": fakeserver.Prompts} {
		assert.Contains(t, greeting, `"`+what+`":{`)
		p.send(strings.Replace(listTools, "tools/", what+"/", 1))
		list := p.answer()
		assert.Len(t, list.Result[what], len(names))
		for _, name := range names {
			assert.Contains(t, list.raw, `"name":"`+name+`"`)
		}
	}
	assert.Contains(t, greeting, `"listChanged":true`)
}
