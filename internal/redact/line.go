package redact

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// patterns are shapes of which no name says that they are secret.
var patterns = []struct {
	has  string
	form func() *regexp.Regexp // the secret is between its two groups
}{
	{"PRIVATE KEY", lazily(`(?s)(-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----).*?(-----END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----|$)`)},
	{"://hooks.slack.com/", lazily(`(://hooks\.slack\.com/[a-z]+/)[^\s"'?#]+()`)},
	{"://hooks.zapier.com/", lazily(`(://hooks\.zapier\.com/hooks/[a-z]+/)[^\s"'?#]+()`)},
	{".office.com/webhook", lazily(`(\.office\.com/webhook(?:b2)?/)[^\s"'?#]+()`)},
	{"/api/webhooks/", lazily(`(/api/webhooks/)[^\s"'?#]+()`)},
	{"://api.telegram.org/bot", lazily(`(://api\.telegram\.org/bot)[^\s"'/?#]+()`)},
	{"LS0tLS1CRUdJTi", lazily(`(LS0tLS1CRUdJTi)[\w+/=\\]+()`)}, // "-----BEGIN" in base64
	{".atlasv1.", lazily(`()[A-Za-z0-9]{14,}(\.atlasv1\.)[\w=-]+`)},
	{"Q~", lazily(`()[\w~.]{3}\dQ~[\w~.-]{31,}()`)}, // Azure
	{"_mmk", lazily(`()\b[A-Za-z0-9]{6}_[A-Za-z0-9]{29}(_mmk)\b`)},
	{"login ", lazily(`(\blogin\s+\S+\s+password\s+)\S+()`)}, // netrc(5)
	{"response=", lazily(`((?i:\bdigest)\s[^\n]*?\bresponse=\\*"?)[^\s",\\]+()`)},
	{"%40", lazily(`((?i:%3A%2F%2F))(?:[^%\s"'&]|%(?i:3A|25|[2-7][1-9A-E]))*?(%40)`)}, // a URL in a URL
	{
		`"value"`, lazily(`(?i)("name"\s*:\s*"[^"]*(?:token|secret|passw|credential|key|auth|cookie)[^"]*"` +
			others + `\s*,\s*"value"\s*:\s*")(?:[^"\\]|\\.)*()`),
	},
	{`"value"`, lazily(`(?i)("key"\s*:\s*"[^"]*` + endings + `"` + others + `\s*,\s*"value"\s*:\s*")(?:[^"\\]|\\.)*()`)},
	{`"value"`, lazily(`(?i)("value"\s*:\s*")(?:[^"\\]|\\.)*("` + others + `\s*,\s*"(?:key|name)"\s*:\s*"[^"]*` + endings + `")`)},
	{`value\`, lazily(`(?i)("key\\+"\s*:\s*\\+"[^"]*` + endings + `\\+"\s*,\s*\\+"value\\+"\s*:\s*\\+")(?:[^"\\]|\\{2,}.|\\[^"\\])*()`)},
	// A list of two, whose second is no name: "required": ["token", "name"] has no secret.
	{`",`, lazily(`(\[\s*"[^"]*(?i:` + endings + `)"\s*,\s*")[A-Za-z_.-]*[^A-Za-z_."\\-](?:[^"\\]|\\.)*("\s*\])`)},
	{`\",`, lazily(`(\[\s*\\+"[^"]*(?i:` + endings + `)\\+"\s*,\s*\\+")[A-Za-z_.-]*[^A-Za-z_."\\-][^"\\]*(\\+"\s*\])`)},
	{
		"value:", lazily(`(?i)(\bname:[ \t]*["']?[\w.-]*(?:token|secret|passw|credential|key|auth|cookie)[\w.-]*["']?[ \t]*` +
			`\n[ \t]*value:[ \t]*["']?)[^\s"']+()`),
	},
	{"</", lazily(`(?i)(<[\w:.-]*(?:token|secret|passw|credential|apikey|api-key)[\w:.-]*>)[^<\n]+(</)`)},
	{ // the same inside of a JSON string; deeper ones lose more than the value
		`value\`, lazily(`(?i)(name\\+"\s*:\s*\\+"[^"]*(?:token|secret|passw|credential|key|auth|cookie)[^"]*"` +
			`\s*,\s*\\+"value\\+"\s*:\s*\\+")(?:[^"\\]|\\{2,}.|\\[^"\\])*()`),
	},
}

// endings are those of names that have a secret, whatever it looks like.
const endings = `(?:token|secret|password|passwd|credentials?|(?:api|access|private)[ ._-]?key|authorization|cookie)`

// others are members of a JSON object between two that belong together.
const others = `(?:\s*,\s*"[^"]*"\s*:\s*(?:"[^"]*"|[\w.+-]+)){0,3}`

// lazily compiles an expression when it is needed: most processes never do.
func lazily(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// redactText redacts inside a text of more than one word: a shell command, a header, a URL, JSON, YAML, a log. It reads it once.
func redactText(s string) string {
	for _, p := range patterns {
		if strings.Contains(s, p.has) {
			s = p.form().ReplaceAllString(s, "${1}"+Mark+"${2}")
		}
	}
	s = redactCommands(s)
	var out strings.Builder
	var within quotes
	for i := 0; i < len(s); {
		start := i
		for i < len(s) && !nameByte(s[i]) {
			i++
		}
		within.pass(s, start, i)
		out.WriteString(s[start:i])
		start = i
		i = run(s, i, nameByte)
		if from, to := tokenIn(s, start, i); from < to {
			out.WriteString(s[start:from] + Mark)
			i = to
			continue
		}
		out.WriteString(s[start:i])
		if from, to := hidden(s, start, i, within); from < to {
			within.pass(s, i, from)
			out.WriteString(s[i:from] + Mark)
			i = to
		}
	}
	return out.String()
}

// hidden is where the value is that the word before end makes a secret: nowhere if from == to.
func hidden(s string, start, end int, within quotes) (from, to int) {
	if strings.HasPrefix(s[end:], "://") {
		return userinfo(s, end+len("://"))
	}
	w := word{s, start, end}
	i := end + len(quoteAt(s, end)) // of a JSON member's name
	quoted := i > end
	if at, colon := operator(s, i); at > i {
		switch says := w.says(); {
		case says != plain:
			open := ""
			if !quoted {
				open = closing(s, start, within)
			}
			return w.assigned(at, says, colon && !quoted && says != perhaps, open)
		case isUser(s[start:end]):
			return sure(s, nextUser, at)
		}
	}
	return w.followed(i, quoted)
}

// word is a name in a text.
type word struct {
	text       string
	start, end int
}

// inner is the word without what belongs to an escape before it.
func (w word) inner() string { return w.text[w.start+escaped(w.text, w.start) : w.end] }

// says is what the word says of a value that is assigned to it.
func (w word) says() meaning {
	says := max(meaningOf(w.text[w.start:w.end]), meaningOf(w.inner()))
	if says == perhaps && w.start > 0 && strings.IndexByte("?&", w.text[w.start-1]) >= 0 {
		return counted // nothing else is called code or key in a URL
	}
	return says
}

// assigned is where the value is that begins at a place behind an operator, if it is a secret.
func (w word) assigned(at int, says meaning, line bool, open string) (from, to int) {
	if says == perhaps { // a short look first: what is not hidden is read again
		if from, to = valueAt(window(w.text, at), at, line, open, w.start); !says.hides(w.text[from:to]) {
			return w.end, w.end
		}
	}
	if from, to = valueAt(w.text, at, line, open, w.start); from < to && says.hides(w.text[from:to]) {
		return from, pastScheme(w.text, from, to)
	}
	return w.end, w.end
}

// followed is where the value is that follows the word, whose quotes end at i, if it is a secret.
func (w word) followed(i int, quoted bool) (from, to int) {
	s, name := w.text, w.text[w.start:w.end]
	spaces, next := skipSpaces(s, i), max(announces(name), announces(w.inner()))
	switch {
	case quoted && strings.HasPrefix(s[spaces:], ",") && next != nextPlain: // ["--token", "x"]
		if v := skipSpaces(s, spaces+1); quoteAt(s, v) != "" {
			return sure(s, next, v)
		}
	case strings.HasPrefix(s[i:], "=") && variable(name):
		// A short look first: A=A=A=... must not be read to its end from each A.
		from, to = valueAt(s[:min(len(s), i+1+4*minToken)], i+1, false, "", w.start)
		if looksSecret(s[from:to]) {
			return valueAt(s, i+1, false, "", w.start)
		}
	case spaces > i && !quoted && next != nextPlain:
		return sure(s, next, spaces)
	case spaces > i && !quoted:
		return w.stated(spaces)
	}
	return w.end, w.end
}

// stated is where the value is in "the password is VALUE". Most sentences go on in words there, and those stay.
func (w word) stated(from int) (int, int) {
	s := w.text
	verb := run(s, from, nameByte)
	if s[from:verb] != "is" && s[from:verb] != "was" || !statable(w.inner()) {
		return w.end, w.end
	}
	if strings.HasPrefix(s[verb:], ":") {
		verb++
	}
	from = skipSpaces(s, verb)
	if from == verb {
		return w.end, w.end
	}
	quote := quoteAt(s, from)
	from += len(quote)
	to := from + len(strings.TrimRight(s[from:endAt(s, from, " \t\r\n\"'`")], `.,;:!?\`))
	if quote != "" {
		to = endOfQuoted(s, from, quote)
	}
	if !w.says().states(s[from:to]) {
		return w.end, w.end
	}
	return from, to
}

// schemes are what stands before the secret of an Authorization header (RFC 9110, 11.6.2), with and without its own line.
var schemes = []string{"bearer", "basic", "token", "apikey", "digest", "negotiate"}

// pastScheme is where the word behind a scheme ends, if what is from there to here is one.
func pastScheme(s string, from, to int) int {
	next := skipSpaces(s, to)
	if next == to || !slices.Contains(schemes, strings.ToLower(s[from:to])) {
		return to
	}
	_, end := valueAt(s, next, false, "", from)
	return end
}

// sure is where the value is that starts at from, if what announces it makes it a secret.
func sure(s string, next nextValue, from int) (int, int) {
	start := from
	from, to := valueAt(window(s, start), start, false, "", start) // a short look first, as above
	look := s[from:to]
	if next != nextUser {
		if !next.hides(look) {
			return start, start
		}
		return valueAt(s, start, false, "", start)
	}
	colon := strings.IndexByte(look, ':')
	if colon < 0 {
		return start, start
	}
	password := from + colon + 1
	if strings.HasPrefix(s[password:], Mark) {
		return password, password + len(Mark)
	}
	_, to = valueAt(s, start, false, "", start)
	return password, to
}

// userinfo is where a URL's user and password are, whose authority starts at from: nowhere if from == to.
func userinfo(s string, from int) (int, int) {
	end := endAt(s, from, "/?# \t\n\"'")
	at := strings.LastIndexByte(s[from:end], '@')
	if at < 0 {
		return from, from
	}
	return from, from + at
}

// operator is where the value begins behind "=", ":", "=>" or one of them in a URL, and whether that is a colon. It is i if there is none.
func operator(s string, i int) (at int, colon bool) {
	at = skipSpaces(s, i)
	if strings.HasPrefix(s[at:], "%22") { // a quote in a URL
		at += len("%22")
	}
	switch {
	case at >= len(s):
		return i, false
	case s[at] == '=' || s[at] == ':':
		colon = s[at] == ':'
		at = run(s, at, func(c byte) bool { return strings.IndexByte("=:>", c) >= 0 })
		if strings.HasPrefix(s[at:], `\u003e`) { // "=>" in JSON
			at += len(`\u003e`)
		}
		return skipSpaces(s, at), colon
	case strings.HasPrefix(s[at:], `\u003d`), strings.HasPrefix(s[at:], `\u003a`): // in JSON
		return at + len(`\u003d`), false
	case s[at] == '%':
		for at++; strings.HasPrefix(s[at:], "25"); {
			at += len("25")
		}
		if len(s)-at > 2 && s[at] == '3' && strings.IndexByte("DdAa", s[at+1]) >= 0 {
			return at + 2, false
		}
	}
	return i, false
}

// endAt is where the first of some characters is, or the end.
func endAt(s string, from int, any string) int {
	if n := strings.IndexAny(s[from:], any); n >= 0 {
		return from + n
	}
	return len(s)
}

func skipSpaces(s string, i int) int {
	return run(s, i, func(c byte) bool { return c == ' ' || c == '\t' })
}

func nameByte(c byte) bool { return c < utf8.RuneSelf && nameRune(rune(c)) }

func nameRune(c rune) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-' || c == '.'
}
