package redact

import (
	"strings"
	"testing"
)

// A line of stderr, and what a hostile process writes: the time must grow with the length alone.
func BenchmarkText(b *testing.B) {
	for name, s := range map[string]string{
		"line":     "2024-01-01 12:00:01 INFO server listening on http://127.0.0.1:8080/mcp with pid 123 started by /usr/bin/node dist/index.js --port 8080",
		"A=":       strings.Repeat("A=", 32<<10),
		"sk-":      strings.Repeat("sk-", 21<<10),
		"brackets": strings.Repeat(`"token":{`, 7<<10),
		"perhaps":  strings.Repeat("key:[", 13<<10),
		"basic":    strings.Repeat("basic [", 9<<10),
		"quotes":   strings.Repeat(`"token:"`, 8<<10),
		"slashes":  strings.Repeat(`\\\\"token: `, 6<<10),
		"yaml":     strings.Repeat("token:\n ", 8<<10),
		"telegram": strings.Repeat("12345678:", 7<<10),
		"discord":  strings.Repeat("M.", 32<<10),
		"percent":  strings.Repeat("%3A%2F%2F%40", 5<<10),
		"digest":   strings.Repeat("digest response=", 4<<10),
		"redis":    strings.Repeat("redis-cli ", 6<<10),
		"mysql":    strings.Repeat(`mysql -p"`, 7<<10),
		"pairs":    strings.Repeat(`["token","`, 6<<10),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				Text(s)
			}
		})
	}
}
