package scoreboard

import (
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/leakbench/leakbench/internal/play/scoreboard"
)

// For is what writes a board as a file's name asks for: .html, .md or .json. It
// is nil for any other name. Where links are wanted, each cell has one to its
// run's report, as seen from the file.
func For(file string, links bool) func(io.Writer, *scoreboard.Board) error {
	var o Options
	if links {
		o.Link = func(page string) string { return relative(file, page) }
	}
	switch strings.ToLower(filepath.Ext(file)) {
	case ".html", ".htm":
		return func(w io.Writer, b *scoreboard.Board) error { return HTML(w, b, o) }
	case ".md":
		return func(w io.Writer, b *scoreboard.Board) error { return Markdown(w, b, o) }
	case ".json":
		return JSON
	}
	return nil
}

// relative is the address of a page as seen from a file, or "" where there is
// none: on another drive.
func relative(file, page string) string {
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
