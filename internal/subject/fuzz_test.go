package subject_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/subject"
)

type sink struct{ io.Writer }

func (sink) Close() error { return nil }

// FuzzDriver has a driver say anything: the conversation ends with its stdout,
// nobody is kept waiting, and what is said of it can be shown.
func FuzzDriver(f *testing.F) {
	f.Add(`{"leakbench":1,"host":"x","ops":["open"]}` + "\n" + `{"id":1,"ok":true}` + "\n")
	f.Add(`{"id":1,"ok":false,"error":"\u001b[31m"}` + "\n{]\n" + `{"id":7}` + "\n" + `{"id":1}`)
	f.Add("\x00\xff\n\n\r\n" + `{"leakbench":99}` + "\n")
	f.Fuzz(func(t *testing.T, said string) {
		d := subject.Connect(strings.NewReader(said), sink{io.Discard})
		defer d.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		_, hello := d.Hello(ctx)
		_, err := d.Do(ctx, driver.Request{Op: driver.OpOpen, Session: "s"})
		<-d.Done()
		_, after := d.Do(ctx, driver.Request{Op: driver.OpStop})
		require.Error(t, after, "nobody is there to answer")
		require.NoError(t, ctx.Err(), "it waited for a driver that is gone")
		for _, e := range []error{hello, err, after} {
			if e != nil {
				require.NotContains(t, e.Error(), "\x1b")
				require.Less(t, len(e.Error()), 64<<10)
			}
		}
	})
}
