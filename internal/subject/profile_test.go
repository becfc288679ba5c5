package subject_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/subject"
)

// TestProfileOfKeepsEachField fills in every field, so that one that is added is not forgotten.
func TestProfileOfKeepsEachField(t *testing.T) {
	t.Parallel()
	var said driver.Profile
	v := reflect.ValueOf(&said).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.String:
			f.SetString(v.Type().Field(i).Name)
		default:
			f.SetInt(int64(i+1) * int64(time.Second))
		}
	}
	kept := reflect.ValueOf(subject.ProfileOf(said))
	assert.Equal(t, v.NumField(), kept.NumField())
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		assert.True(t, kept.FieldByName(name).Equal(v.Field(i).Convert(kept.FieldByName(name).Type())), name)
	}
}
