package hostfile

import (
	"regexp"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/subject/host"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/internal/yamlfile"
)

// Where which placeholders mean something.
var (
	places     = host.Placeholders
	inURL      = append(slices.Clone(places), "label")
	inTemplate = append(slices.Clone(places), host.TemplatePlaceholders...)
)

// placeholder takes anything between double braces that looks like a word.
var placeholder = regexp.MustCompile(`\{\{\s*([A-Za-z_.]+)\s*\}\}`)

// checkPlaceholders finds names that stand for nothing.
func checkPlaceholders(n *yamlfile.Node, s string, known []string) {
	for _, match := range placeholder.FindAllStringSubmatch(s, -1) {
		switch name := match[1]; {
		case !slices.Contains(known, name):
			hint := text.DidYouMean(name, known)
			if hint == "" {
				hint = "there is " + strings.Join(known, ", ")
			}
			n.Problem("%s stands for nothing; %s", match[0], hint)
		case match[0] != "{{"+name+"}}":
			n.Problem("write {{%s}}, without spaces", name)
		}
	}
}
