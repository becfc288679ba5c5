package lines

import (
	"fmt"
	"strconv"
)

// Quote shows a line that the other side wrote: escaped, and not at length.
func Quote(line []byte) string {
	if most := 200; len(line) > most {
		return fmt.Sprintf("%q... (%d bytes)", line[:most], len(line))
	}
	return strconv.Quote(string(line))
}
