package text

import "unicode/utf8"

// Clip cuts s after most characters, with tail in the place of the rest.
func Clip[S ~string](s S, most int, tail S) S {
	if len(s) <= most {
		return s
	}
	for at := range s {
		if most--; most < 0 {
			return s[:at] + tail
		}
	}
	return s
}

// ClipBytes is Clip by bytes: it cuts at the start of a character.
func ClipBytes[S ~string](s S, most int, tail S) S {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + tail
}
