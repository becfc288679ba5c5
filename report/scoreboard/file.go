package scoreboard

import (
	"net/url"
	"path/filepath"
)

// LinksFrom is Options.Link for a board that is written to a file: addresses as
// seen from there. On another drive there is none.
func LinksFrom(file string) func(page string) string {
	return func(page string) string {
		from, wrong := filepath.Abs(filepath.Dir(file))
		to, err := filepath.Abs(page)
		if wrong != nil || err != nil {
			return ""
		}
		rel, err := filepath.Rel(from, to)
		if err != nil {
			return ""
		}
		return (&url.URL{Path: filepath.ToSlash(rel)}).String()
	}
}
