// Package redact takes secrets out of command lines and texts that are written down.
package redact

import (
	"fmt"
	"slices"
	"strings"

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
// it can't know: a secret that is an argument of its own without a name, or glued to a flag (-pSECRET), but for some programs.
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
	var said command
	for i := range kept {
		word := strings.ToValidUTF8(text.ClipBytes(kept[i], maxRead, "…"), "\uFFFD")
		if i >= 3 && kept[i-1] == "password" && kept[i-3] == "login" { // netrc(5)
			next = nextSecret
		}
		from, arg := said.next(word), redactArg(word, next)
		next = after(word, next)
		if from >= 0 {
			arg = word[:from] + Mark
		}
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
	nextPerhaps // a secret if it looks like one
	nextBasic   // a secret if it is "user:password" in base64
	nextUser    // "user:password"
	nextPort    // a secret, unless it is a path or a port: -p says all of these
	nextEquals  // a secret, where an equals sign stands between
	nextRest    // all words of a header, up to the next flag
	nextStated  // a secret if a sentence may state it
)

// joiners stand as words of their own between a name and its value.
var joiners = map[string]nextValue{
	"=": nextSecret, ":": nextSecret, ":=": nextSecret, "=>": nextSecret,
	"is": nextStated, "was": nextStated, "is:": nextStated, "was:": nextStated,
}

// after is what an argument makes of the next one, seen from what the one before has made of it.
func after(arg string, before nextValue) nextValue {
	said := announces(arg)
	arg = strings.TrimRight(arg, " ")
	name, header := strings.CutSuffix(arg, ":")
	switch {
	case before == nextRest && !strings.HasPrefix(arg, "-"):
		return nextRest
	case before == nextEquals && joiners[arg] != nextPlain:
		return joiners[arg]
	case said != nextPlain:
	case schemeAssigned(arg):
		return nextSecret
	case header && meaningOf(name) >= counted:
		return nextRest
	case header && meaningOf(name) == perhaps:
		return nextPerhaps
	case assignable(arg) && meaningOf(arg) >= counted:
		return nextEquals
	}
	return said
}

// schemeAssigned says that an argument is what AUTHORIZATION=Bearer SECRET or Authorization: Bearer SECRET begins with.
func schemeAssigned(arg string) bool {
	at := strings.LastIndexAny(arg, "=: ")
	name := strings.TrimRight(arg[:at+1], "=: ")
	return strings.HasSuffix(strings.ToLower(name), "authorization") && slices.Contains(schemes, strings.ToLower(arg[at+1:]))
}

// hides says that what follows is a secret as a whole.
func (v nextValue) hides(what string) bool {
	switch v {
	case nextSecret:
		return true
	case nextRest:
		return !strings.HasPrefix(what, "-")
	case nextPerhaps:
		return looksRandom(what)
	case nextBasic:
		return userAndPassword(what)
	case nextPort:
		return !pathOrPort(what)
	case nextStated:
		return secret.states(what)
	}
	return false
}

func redactArg(arg string, before nextValue) string {
	switch {
	case arg == "" || strings.HasPrefix(arg, "--"):
	case before.hides(arg):
		return Mark
	case before == nextUser:
		if user, _, ok := strings.Cut(arg, ":"); ok {
			return user + ":" + Mark
		}
	}
	if name, value, ok := strings.Cut(arg, "="); ok && isUser(name) {
		return name + "=" + redactArg(value, nextUser)
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
	case strings.EqualFold(arg, "basic"):
		return nextBasic
	case !strings.HasPrefix(arg, "-") || strings.ContainsAny(arg, "=: \t\n"):
		return nextPlain
	case isUser(arg):
		return nextUser
	case arg == "-p":
		return nextPort
	}
	switch meaningOf(arg) {
	case secret, counted:
		return nextSecret
	case perhaps:
		return nextPerhaps
	}
	return nextPlain
}

func isUser(flag string) bool {
	return slices.Contains([]string{"-u", "-U", "--user", "--proxy-user"}, flag)
}

// pathOrPort says that a value is a path, or numbers as of ports and addresses.
func pathOrPort(value string) bool {
	return strings.Trim(value, "0123456789:.") == "" || strings.ContainsRune("/.~", rune(value[0]))
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
	return name == "-p" && !pathOrPort(value) || meaningOf(name).hides(value) || variable(name) && looksSecret(value)
}

// Text is a text of several lines, as a log has them, that may be written down: without what Args leaves out of an
// argument, and without what is between the marks of a private key.
func Text(s string) string {
	const end, begin = "PRIVATE KEY-----", "-----BEGIN "
	if at := strings.Index(s, end); at >= 0 && !strings.Contains(s[:at], begin) { // it begins in what was cut off
		s = Mark + "-----END " + s[at:]
	}
	return redactText(s)
}
