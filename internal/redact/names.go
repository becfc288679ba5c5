package redact

import (
	"encoding/base64"
	"slices"
	"strings"
	"unicode"
)

// meaning is what a name says of its value.
type meaning int

const (
	plain   meaning = iota
	perhaps         // a secret if it looks like one
	counted         // a secret if it is no small number: tokens are counted, too
	secret
)

// secretParts make a name secret wherever they stand in it, its separators left out; secretWords only as a word between separators.
var (
	secretParts = []string{
		"secret", "passw", "passphrase", "passcode", "credential", "apikey", "accesskey", "privatekey", "signingkey",
		"encryptionkey", "masterkey", "licensekey", "accountkey", "authorization", "bearer", "cookie", "jwt",
		"authcode", "devicecode", "usercode", "codeverifier", "sessionkey", "mnemonic",
	}
	secretWords  = []string{"pass", "pwd", "auth", "pat", "sig", "signature", "pin", "otp", "totp", "hmac", "csrf", "xsrf"}
	countedParts = []string{"token", "sessionid", "sessid"}
	// plainKeys are keys that open nothing.
	plainKeys = []string{
		"public", "pub", "cache", "primary", "foreign", "sort", "partition", "group", "row", "idempotency", "object", "map", "registry",
	}
)

func meaningOf(name string) meaning {
	lower := strings.ToLower(strings.TrimLeft(name, "-"))
	words := strings.FieldsFunc(lower, func(c rune) bool { return c == '-' || c == '_' || c == '.' })
	squeezed := strings.Join(words, "")
	has := func(part string) bool { return strings.Contains(squeezed, part) }
	switch {
	case len(words) == 0 || has("maxtokens") || name == "PWD" || name == "OLDPWD":
		return plain
	case slices.ContainsFunc(secretParts, has), slices.ContainsFunc(words, func(w string) bool { return slices.Contains(secretWords, w) }):
		return secret
	case slices.ContainsFunc(countedParts, has), words[len(words)-1] == "sid":
		return counted
	case squeezed == "code", squeezed == "samlresponse",
		strings.HasSuffix(squeezed, "key") && !slices.Contains(plainKeys, strings.TrimSuffix(squeezed, "key")):
		return perhaps
	}
	return plain
}

// hides says that a value below a name of this meaning is a secret.
func (m meaning) hides(value string) bool {
	switch m {
	case secret:
		return true
	case counted:
		return len(value) > 7 || strings.Trim(value, "0123456789 ,.;)}]") != ""
	case perhaps:
		return looksRandom(value)
	}
	return false
}

// statedNames end the names of what a sentence states.
var statedNames = []string{"password", "passwd", "passphrase", "passcode", "pwd", "secret", "token", "key"}

func statable(name string) bool {
	return slices.ContainsFunc(statedNames, func(end string) bool { return strings.HasSuffix(strings.ToLower(name), end) })
}

// states says that a value is a secret which a sentence states of a name of this meaning. It reads like no word: it has a digit or a sign.
func (m meaning) states(value string) bool {
	if m <= perhaps {
		return m.hides(value)
	}
	plain := func(c rune) bool { return unicode.IsLetter(c) || strings.ContainsRune("-/._'", c) }
	return len(value) >= minStated && strings.IndexByte("<({[/.$%", value[0]) < 0 && strings.TrimFunc(value, plain) != ""
}

// variable says that a name is one of the environment.
func variable(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(c rune) bool {
		return (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_'
	})
}

const (
	minToken  = 20 // bytes of a value that no name makes a secret
	minRandom = 12 // bytes of one whose name may make it one
	minStated = 6  // bytes of one in a sentence
)

// looksSecret says that a value reads like a random one: long, one word, of
// small and capital letters and digits. Paths and hashes do not.
func looksSecret(value string) bool {
	if tokenAt(value, 0) > 0 {
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

// looksRandom asks less, of a value whose name allows that: one word with letters and digits, or of many digits, and no path.
func looksRandom(value string) bool {
	value = strings.TrimSpace(value)
	odd := func(c rune) bool { return !nameRune(c) && !strings.ContainsRune(`+/=~:%!@$^*#&\\`, c) }
	if len(value) < minRandom || strings.ContainsFunc(value, odd) {
		return false
	}
	parts := strings.Split(value, "/")
	return slices.ContainsFunc(parts, func(part string) bool {
		return (len(parts) == 1 || len(part) > 16) && strings.ContainsAny(part, "0123456789") &&
			(len(part) > minToken || strings.ContainsFunc(part, func(c rune) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }))
	})
}

// userAndPassword says that a word is what follows "Basic" in a header.
func userAndPassword(word string) bool {
	decoded, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(word, "="))
	return err == nil && strings.Contains(string(decoded), ":")
}
