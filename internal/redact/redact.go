// Package redact takes secrets out of command lines that are written down.
package redact

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/leakbench/leakbench/internal/text"
)

// Mark stands in the place of a secret.
const Mark = "[redacted]"

// Caps of a command line in a run file.
const (
	maxArgs = 64
	maxArg  = 1 << 10 // bytes
	maxRead = 4 << 10 // bytes of an argument that are looked at: hostile ones can't make it slow
)

// Args is a command line that may be written down: without the values of flags, variables, headers and JSON members
// whose name says that they are secret, without the user part of URLs, and without what looks like a token. What is
// left of more than 64 arguments, or of more than 1 KiB of one, is said in its place. It does not change args. What
// it can't know: a secret that is an argument of its own without a name, or glued to a flag (-pSECRET).
func Args(args []string) []string {
	if args == nil {
		return nil
	}
	kept := args
	if len(args) > maxArgs {
		kept = args[:maxArgs-1]
	}
	out := make([]string, 0, len(kept)+1)
	next := nextPlain // what the arguments before say of this one
	for i, arg := range kept {
		arg = strings.ToValidUTF8(text.ClipBytes(arg, maxRead, "…"), "\uFFFD")
		if i >= 3 && kept[i-1] == "password" && kept[i-3] == "login" {
			next = nextSecret // netrc(5)
		}
		arg, next = redactArg(arg, next), after(arg, next)
		if len(arg) > maxArg {
			arg = text.ClipBytes(arg, maxArg-len("…"), "…")
		}
		out = append(out, arg)
	}
	if len(kept) < len(args) {
		out = append(out, fmt.Sprintf("… and %d more", len(args)-len(kept)))
	}
	return out
}

// nextValue is what a flag or a word says of what follows it.
type nextValue int

const (
	nextPlain nextValue = iota
	nextSecret
	nextUser   // "user:password"
	nextEquals // a secret, where an equals sign stands between
	nextRest   // all words of a header, up to the next flag
)

// after is what an argument makes of the next one, seen from what the one before has made of it.
func after(arg string, before nextValue) nextValue {
	said := announces(arg)
	switch {
	case before == nextRest && !strings.HasPrefix(arg, "-"):
		return nextRest
	case before == nextEquals && (arg == "=" || arg == ":"):
		return nextSecret
	case said != nextPlain:
	case strings.HasSuffix(arg, ":") && secretName(strings.TrimSuffix(arg, ":")):
		return nextRest
	case assignable(arg) && secretName(arg):
		return nextEquals
	}
	return said
}

func redactArg(arg string, before nextValue) string {
	switch {
	case arg == "" || strings.HasPrefix(arg, "--"):
	case before == nextSecret, before == nextRest && !strings.HasPrefix(arg, "-"):
		return Mark
	case before == nextUser:
		if user, _, ok := strings.Cut(arg, ":"); ok {
			return user + ":" + Mark
		}
	}
	if name, value, ok := assignment(arg); ok && value != "" && secretAssignment(name, value) {
		return arg[:len(arg)-len(value)] + Mark
	}
	return redactText(arg)
}

// announces says what an argument that is a flag, or the word "bearer", makes of the next one.
func announces(arg string) nextValue {
	switch {
	case strings.EqualFold(arg, "bearer"):
		return nextSecret
	case !strings.HasPrefix(arg, "-") || strings.ContainsAny(arg, "=: \t\n"):
		return nextPlain
	case arg == "-u" || arg == "--user":
		return nextUser
	case arg == "-p" || secretName(arg):
		return nextSecret
	}
	return nextPlain
}

// assignable says that an argument is a name and nothing else, as in "name = value".
func assignable(arg string) bool {
	return arg != "" && arg[0] != '-' && strings.IndexFunc(arg, func(c rune) bool { return !nameRune(c) }) < 0
}

// assignment cuts an argument that is one as a whole: --name=value or NAME=value. Its value may hold anything, spaces included.
func assignment(arg string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(arg, "=")
	if !ok || name == "" || strings.IndexFunc(name, func(c rune) bool { return !nameRune(c) }) >= 0 {
		return "", "", false
	}
	return name, value, true
}

func secretAssignment(name, value string) bool {
	return name == "-p" || secretName(name) || variable(name) && looksSecret(value)
}

// redactText redacts inside an argument that is more than one word: a shell command, a header, a URL, JSON.
func redactText(s string) string {
	for _, p := range patterns {
		if strings.Contains(s, p.has) {
			s = p.form.ReplaceAllString(s, "${1}"+Mark+"${2}")
		}
	}
	if !strings.ContainsAny(s, " \t\n=:\"'") && !hasTokenPrefix(s) {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); {
		start := i
		for i < len(s) && !nameByte(s[i]) {
			i++
		}
		out.WriteString(s[start:i])
		start = i
		for i < len(s) && nameByte(s[i]) {
			i++
		}
		word := s[start:i]
		var from, to int
		switch {
		case strings.HasPrefix(s[i:], "://"):
			from, to = userinfo(s, i+len("://"))
		case hasTokenPrefix(word):
			out.WriteString(Mark)
			continue
		default:
			from, to = secretValue(s, word, i)
		}
		out.WriteString(word)
		if from < to {
			out.WriteString(s[i:from] + Mark)
			i = to
		}
	}
	return out.String()
}

// patterns are shapes of which no name says that they are secret.
var patterns = []struct {
	has  string
	form *regexp.Regexp // the secret is between its two groups
}{
	{"PRIVATE KEY", regexp.MustCompile(`(?s)(-----BEGIN [A-Z ]*PRIVATE KEY-----).*?(-----END [A-Z ]*PRIVATE KEY-----|$)`)},
	{"://hooks.slack.com/", regexp.MustCompile(`(://hooks\.slack\.com/[a-z]+/)[^\s"'?#]+()`)},
	{"/api/webhooks/", regexp.MustCompile(`(/api/webhooks/)[^\s"'?#]+()`)},
	{"://api.telegram.org/bot", regexp.MustCompile(`(://api\.telegram\.org/bot)[^\s"'/?#]+()`)},
	{"login ", regexp.MustCompile(`(\blogin\s+\S+\s+password\s+)\S+()`)}, // netrc(5)
	{
		`"value"`, regexp.MustCompile(`(?i)("name"\s*:\s*"[^"]*(?:token|secret|passw|credential|key|auth|cookie)[^"]*"` +
			`\s*,\s*"value"\s*:\s*")(?:[^"\\]|\\.)*()`),
	},
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

// secretValue is where the value is that the name before end makes a secret: nowhere if from == to.
func secretValue(s, name string, end int) (from, to int) {
	i := end + len(quoteAt(s, end)) // of a JSON member's name
	quoted := i > end
	spaces := skipSpaces(s, i)
	switch {
	case quoted && spaces < len(s) && s[spaces] == ',' && announces(name) == nextSecret: // ["--token", "x"]
		if v := skipSpaces(s, spaces+1); quoteAt(s, v) != "" {
			return valueAt(s, v, false)
		}
	case spaces < len(s) && (s[spaces] == ':' || s[spaces] == '=') && secretName(name):
		return valueAt(s, skipSpaces(s, spaces+1), s[spaces] == ':' && !quoted)
	case i < len(s) && s[i] == '=' && variable(name):
		// A short look first: A=A=A=... must not be read to its end from each A.
		from, to = valueAt(s[:min(len(s), i+1+4*minToken)], i+1, false)
		if looksSecret(s[from:to]) {
			return valueAt(s, i+1, false)
		}
	case spaces > i && !quoted && announces(name) != nextPlain:
		return valueAt(s, spaces, false)
	}
	return end, end
}

// quoteAt is the quote at i, with the backslashes of one inside a quoted text, or "".
func quoteAt(s string, i int) string {
	end := i
	for end < len(s) && s[end] == '\\' {
		end++
	}
	if end < len(s) && (s[end] == '"' || s[end] == '\'') {
		return s[i : end+1]
	}
	return ""
}

// valueAt is the value that starts at from: up to its closing quote, the end of the line (a header's), or the end of the word.
func valueAt(s string, from int, line bool) (int, int) {
	if from >= len(s) {
		return from, from
	}
	if quote := quoteAt(s, from); quote != "" {
		from += len(quote)
		for i := from; i < len(s); i++ {
			switch {
			case strings.HasPrefix(s[i:], quote):
				return from, i
			case s[i] == '\\':
				i++
			}
		}
		return from, len(s)
	}
	ends := " \t\n\"'&;,)}"
	if line {
		ends = "\n\"'"
	}
	return from, endAt(s, from, ends)
}

// endAt is where the first of some characters is, or the end.
func endAt(s string, from int, any string) int {
	if n := strings.IndexAny(s[from:], any); n >= 0 {
		return from + n
	}
	return len(s)
}

func skipSpaces(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		i++
	}
	return i
}

func nameByte(c byte) bool { return c < utf8.RuneSelf && nameRune(rune(c)) }

func nameRune(c rune) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-' || c == '.'
}

// variable says that a name is one of the environment.
func variable(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(c rune) bool {
		return (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_'
	})
}

// secretParts make a name secret wherever they stand in it, its separators
// left out; secretWords only as a word between separators.
var (
	secretParts = []string{
		"token", "secret", "passw", "passphrase", "credential", "apikey", "accesskey", "privatekey", "signingkey",
		"encryptionkey", "masterkey", "licensekey", "accountkey", "authorization", "bearer", "cookie", "jwt",
	}
	secretWords = []string{"pass", "pwd", "auth", "pat", "sig", "signature"}
)

func secretName(name string) bool {
	name = strings.ToLower(strings.TrimLeft(name, "-"))
	words := strings.FieldsFunc(name, func(c rune) bool { return c == '-' || c == '_' || c == '.' })
	squeezed := strings.Join(words, "")
	if strings.Contains(squeezed, "maxtokens") {
		return false
	}
	return slices.ContainsFunc(secretParts, func(part string) bool { return strings.Contains(squeezed, part) }) ||
		slices.ContainsFunc(words, func(word string) bool { return slices.Contains(secretWords, word) })
}

// tokenPrefixes start the tokens of well-known services.
var tokenPrefixes = []string{
	"sk-", "sk_live_", "rk_live_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "xoxa-",
	"xoxe-", "xoxr-", "xoxs-", "xapp-", "AKIA", "ASIA", "AIza", "ya29.", "hf_", "npm_", "pypi-", "eyJ", "sk_test_", "rk_test_", "whsec_",
	"dop_v1_", "shpat_", "shpss_", "SG.", "AGE-SECRET-KEY-", "ATATT3", "dckr_pat_", "glrt-", "lin_api_",
}

const minToken = 20 // bytes

func hasTokenPrefix(word string) bool {
	return len(word) >= minToken && slices.ContainsFunc(tokenPrefixes, func(prefix string) bool { return strings.HasPrefix(word, prefix) })
}

// looksSecret says that a value reads like a random one: long, one word, of
// small and capital letters and digits. Paths and hashes do not.
func looksSecret(value string) bool {
	if hasTokenPrefix(value) {
		return true
	}
	var small, capital, digit bool
	for _, c := range value {
		switch {
		case 'a' <= c && c <= 'z':
			small = true
		case 'A' <= c && c <= 'Z':
			capital = true
		case '0' <= c && c <= '9':
			digit = true
		case !strings.ContainsRune("+_-=", c):
			return false
		}
	}
	return len(value) >= minToken && small && capital && digit
}

// Text is a text of several lines, as a log has them, that may be written down: without what Args leaves out of an
// argument, and without what is between the marks of a private key.
func Text(s string) string {
	const end, begin = "PRIVATE KEY-----", "-----BEGIN "
	if at := strings.Index(s, end); at >= 0 && !strings.Contains(s[:at], begin) { // it begins in what was cut off
		s = Mark + "-----END " + s[at:]
	}
	lines := strings.Split(redactText(s), "\n")
	for i, line := range lines {
		lines[i] = redactText(line)
	}
	return strings.Join(lines, "\n")
}
