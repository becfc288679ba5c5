package law

import (
	"fmt"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/text"
)

// Explain is what there is to say about a law ("L3", or its name "no collateral"), a kind ("superseded") or a doubt
// ("starved"), in plain text. The error names what was probably meant.
func Explain(id string) (string, error) {
	wanted := strings.ToLower(strings.TrimSpace(id))
	var names []string
	for _, l := range append(All(), Servers()...) {
		if wanted == strings.ToLower(l.ID) || wanted == strings.ToLower(l.Name) {
			return explainLaw(l), nil
		}
		names = append(names, l.ID, l.Name)
	}
	for _, k := range all().Kinds {
		if wanted == k.ID {
			return explainKind(k), nil
		}
		names = append(names, k.ID)
	}
	for _, d := range all().Doubts {
		if wanted == string(d.Code) {
			return explainDoubt(d), nil
		}
		names = append(names, string(d.Code))
	}
	slices.Sort(names)
	id = text.Clip(id, maxAsked, "…")
	if hint := text.DidYouMean(wanted, names); hint != "" {
		return "", fmt.Errorf("there is no law, kind or doubt %q: %s", text.Sanitize(id, '?', ""), hint)
	}
	return "", fmt.Errorf("there is no law, kind or doubt %q", text.Sanitize(id, '?', ""))
}

// maxAsked is how much of a name that there is not is repeated.
const maxAsked = 100

// explainWidth is where the lines of an explanation are broken.
const explainWidth = 100

func explainLaw(l Law) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n\n%s\n\n%s\n", l.ID, l.Name, fold(l.Says, ""), fold(l.Why, ""))
	width := 0
	for _, id := range l.Kinds {
		width = max(width, len(id))
	}
	for i, id := range l.Kinds {
		if i == 0 {
			b.WriteString("\nKinds:\n")
		}
		fmt.Fprintf(&b, "  %-*s  %s\n", width, id, KindOf(id).Title)
	}
	return b.String()
}

func explainKind(k Kind) string {
	law := Of(k.Law)
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", k.ID, k.Title)
	fmt.Fprintln(&b, fold(fmt.Sprintf("breaks %s %s: %s", law.ID, law.Name, law.Says), ""))
	if len(k.Also) > 0 {
		fmt.Fprintf(&b, "also a way to break %s\n", strings.Join(k.Also, ", "))
	}
	for _, part := range []struct{ title, text string }{
		{"Seen as", k.Signature},
		{"Why", k.Why},
		{"Fix", k.Fix},
		{"Fix on Windows", k.Windows},
	} {
		if part.text == "" {
			continue
		}
		fmt.Fprintf(&b, "\n%s\n%s\n", part.title, fold(part.text, "  "))
	}
	b.WriteString("\nIn the field\n")
	for _, id := range k.Reports {
		fmt.Fprintf(&b, "  %s  %s\n", id, Thread(id))
	}
	return b.String()
}

func explainDoubt(d Doubt) string {
	const rule = "A run with a doubt and without findings is inconclusive, never clean."
	do := fold(d.Do, "  ")
	if d.Launched != "" {
		do += "\n\nWhat to do if each server was launched at least once\n" + fold(d.Launched, "  ")
	}
	return fmt.Sprintf("%s: a doubt\n%s\n%s\n\nWhat to do\n%s\n", d.Code, fold(d.Means, ""), fold(rule, ""), do)
}

// fold breaks a paragraph into lines.
func fold(paragraph, indent string) string {
	width := explainWidth - len(indent)
	return indent + strings.Join(text.Wrap(paragraph, width, width), "\n"+indent)
}
