package redact

import (
	"path"
	"slices"
	"strings"
)

type program struct {
	name     string // how it begins
	password func(c *command, word string) int
}

// programs take a password in a way of their own: they say where it begins in a word behind them, or less than 0.
var programs = []program{
	{"mysql", (*command).gluedToP},
	{"mariadb", (*command).gluedToP},
	{"mongo", (*command).gluedToP},
	{"sshpass", (*command).gluedToP},
	{"ldap", (*command).behindW},
	{"smb", (*command).behindPercent},
	{"rpcclient", (*command).behindPercent},
	{"htpasswd", (*command).lastOperand},
	{"openssl", (*command).ofOpenSSL},
	{"redis-cli", func(c *command, _ string) int { return start(c.before == "-a") }},
	{"zip", (*command).behindCapitalP},
	{"unzip", (*command).behindCapitalP},
	{"sqlcmd", (*command).behindCapitalP},
}

// command is one that is read word by word.
type command struct {
	password func(c *command, word string) int // nil: none of the programs was named
	before   string                            // the word before
	glued    bool                              // it is -p, and a quote begins right behind it
	words    int                               // behind the program
	flags    string                            // their letters
	operands int
}

// next is where a password begins in the next word, or less than 0.
func (c *command) next(word string) (from int) {
	from = -1
	switch {
	case strings.Trim(word, "|;&") == "":
		c.password = nil
	case c.password != nil:
		c.words++
		if from = c.password(c, word); from >= len(word) {
			from = -1
		}
	}
	if from < 0 && !takesValue(c.before) {
		c.begin(word)
	}
	if strings.HasSuffix(word, ";") {
		c.password = nil
	}
	if c.before = word; from >= 0 {
		c.before = Mark
	}
	return from
}

// takesValue says that the next word may be a flag's value, and no program.
func takesValue(flag string) bool {
	return strings.HasPrefix(flag, "-") && flag != "-c" && flag != "--" && !strings.Contains(flag, "=")
}

// begin reads on behind a word, if that is one of the programs.
func (c *command) begin(word string) {
	name := strings.TrimSuffix(path.Base(strings.ReplaceAll(word, `\`, "/")), ".exe")
	for _, p := range programs {
		if strings.HasPrefix(name, p.name) && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz-") == "" {
			*c = command{password: p.password}
		}
	}
}

func start(is bool) int {
	if is {
		return 0
	}
	return -1
}

// noPasswords are flags of other programs, which are told of a database.
var noPasswords = []string{"-parallel", "-path", "-pid", "-port", "-prefix", "-print", "-profile", "-protocol", "-proxy"}

// gluedToP has mysql -pSECRET. What follows an -p of its own is a database.
func (c *command) gluedToP(word string) int {
	if c.glued {
		return 0
	}
	value, is := strings.CutPrefix(word, "-p")
	name, _, _ := strings.Cut(word, "=")
	port := strings.TrimSuffix(strings.TrimSuffix(value, "/tcp"), "/udp")
	if !is || slices.Contains(noPasswords, name) || strings.Trim(port, "0123456789.:") == "" {
		return -1
	}
	return len("-p")
}

// behindW has ldapsearch -w SECRET.
func (c *command) behindW(word string) int {
	if c.before == "-w" {
		return 0
	}
	if strings.HasPrefix(word, "-w") && len(word) > len("-w") {
		return len("-w")
	}
	return -1
}

// behindCapitalP has zip -P SECRET.
func (c *command) behindCapitalP(string) int { return start(c.before == "-P") }

// behindPercent has smbclient -U user%SECRET.
func (c *command) behindPercent(word string) int {
	named := isUser(c.before) || strings.HasPrefix(word, "-U") || strings.HasPrefix(word, "--user=")
	if at := strings.IndexByte(word, '%'); named && at > 0 {
		return at + 1
	}
	return -1
}

// lastOperand has htpasswd -b file user SECRET, and -nb user SECRET.
func (c *command) lastOperand(word string) int {
	if letters, is := strings.CutPrefix(word, "-"); is {
		c.flags += letters
		return -1
	}
	if strings.HasPrefix(c.before, "-") && strings.HasSuffix(c.before, "C") || c.before == "-r" {
		return -1 // it is a cost
	}
	c.operands++
	last := 3
	if strings.Contains(c.flags, "n") {
		last = 2
	}
	return start(strings.Contains(c.flags, "b") && c.operands == last)
}

// ciphers are how those of openssl begin that are commands: they alone have -k.
var ciphers = []string{"enc", "aes", "aria", "bf", "camellia", "cast", "chacha", "des", "idea", "rc2", "rc4", "rc5", "seed", "sm4"}

// ofOpenSSL has openssl enc -k SECRET, and pass:SECRET.
func (c *command) ofOpenSSL(word string) int {
	if c.words == 1 && slices.ContainsFunc(ciphers, func(begins string) bool { return strings.HasPrefix(word, begins) }) {
		c.flags = "k"
	}
	if strings.HasPrefix(word, "pass:") {
		return len("pass:")
	}
	return start(c.flags == "k" && strings.EqualFold(c.before, "-k"))
}

// redactCommands leaves out the passwords of such programs in a text: a shell's, or a list of words in JSON.
func redactCommands(s string) string {
	if !slices.ContainsFunc(programs, func(p program) bool { return strings.Contains(s, p.name) }) {
		return s
	}
	var out strings.Builder
	var c command
	written := 0
	for i := 0; i < len(s); {
		switch {
		case s[i] == '\n':
			c = command{}
			i++
			continue
		case strings.IndexByte(spaceOrQuote, s[i]) >= 0:
			i++
			continue
		}
		end := endAt(s, i, spaceOrQuote)
		if c.glued {
			end = endAt(s, i, s[i-1:i]+"\n")
		}
		if strings.Trim(s[i:end], "[]{},:=") != "" {
			if from := c.next(s[i:end]); from >= 0 {
				out.WriteString(s[written:i+from] + Mark)
				written = end
			}
			c.glued = s[i:end] == "-p" && len(s)-end > 1 && strings.IndexByte("\"'", s[end]) >= 0 && strings.IndexByte(",]: \t\r\n\"'", s[end+1]) < 0
		}
		i = end
	}
	return out.String() + s[written:]
}

// spaceOrQuote ends a word.
const spaceOrQuote = " \t\r\n\"'`\\"
