package law

import (
	"fmt"
	"strconv"
	"strings"
)

// Thread is the public thread behind a field report's id: "R001" is
// "NousResearch/hermes-agent#11202". It is "" for an id that is none.
func Thread(id string) string {
	number, isReport := strings.CutPrefix(id, "R")
	n, err := strconv.Atoi(number)
	if !isReport || err != nil || id != fmt.Sprintf("R%03d", n) {
		return ""
	}
	for _, t := range all().Threads {
		if at := n - t.First; at >= 0 && at < len(t.Threads) {
			return t.Repository + "#" + strconv.Itoa(t.Threads[at])
		}
	}
	return ""
}

// Cite names the threads behind ids, so that a finding can be read by itself.
func Cite(ids []string) []string {
	threads := make([]string, 0, len(ids))
	for _, id := range ids {
		if thread := Thread(id); thread != "" {
			threads = append(threads, thread)
		}
	}
	return threads
}
