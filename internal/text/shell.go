package text

import (
	"strings"
	"unicode"
)

const safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=@%+,"

// Shell is a command line that a POSIX shell takes apart as it was.
func Shell(args []string) string { return joined(args, shellWord) }

// Command is a command line to copy. A POSIX shell takes it apart as it was, and where it can be, cmd.exe and PowerShell do, too: in
// these a single quote is a letter, or a backslash none.
func Command(args []string) string {
	return joined(args, func(s string) string {
		if sameInEachShell(s) {
			return `"` + s + `"`
		}
		return shellWord(s)
	})
}

func joined(args []string, word func(string) string) string {
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = word(a)
	}
	return strings.Join(quoted, " ")
}

// shellWord makes one word of s in a POSIX shell (XCU 2.2).
func shellWord(s string) string {
	if s != "" && strings.Trim(s, safe) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// sameInEachShell says that s needs quotes and stands for itself in double ones: a path of Windows, or one with blanks.
func sameInEachShell(s string) bool {
	plain := func(r rune) bool {
		return r == ' ' || r == '\\' || unicode.IsLetter(r) || strings.ContainsRune(safe, r)
	}
	special := strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) || strings.Contains(s, `\\`) || strings.HasSuffix(s, `\`)
	return strings.ContainsAny(s, ` \`) && !special
}
