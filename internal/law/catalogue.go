package law

import (
	"bytes"
	"embed"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"

	"github.com/leakbench/leakbench/internal/record"
)

// texts are all words of the catalogue. They are TOML because most processes of leakbench read them, and reading them as YAML takes
// twenty times as long: 15 ms of processor time.
//
//go:embed texts/*.toml
var texts embed.FS

// catalogue is what a file of texts holds, and what all of them hold.
type catalogue struct {
	Laws    []Law    `toml:"law"`
	Kinds   []Kind   `toml:"kind"`
	Doubts  []Doubt  `toml:"doubt"`
	Causes  []Cause  `toml:"cause"`
	Duties  []duty   `toml:"duty"`
	Threads []thread `toml:"thread"`
	// Phrases are what several texts say.
	Phrases map[string]string `toml:"phrase"`

	servers []Law
}

// all is the catalogue, read at its first use: a fake server never needs it.
var all = sync.OnceValue(func() *catalogue {
	servers := read("servers")
	c := &catalogue{
		Laws: read("laws").Laws, servers: servers.Laws, Kinds: append(read("kinds").Kinds, servers.Kinds...),
		Doubts: read("doubts").Doubts, Threads: read("threads").Threads, Phrases: read("phrases").Phrases,
	}
	causes := read("causes")
	c.Causes, c.Duties = causes.Causes, causes.Duties
	c.sayAll()
	return c
})

// read reads a file of texts. The tests read each of them: what is wrong with one is a bug.
func read(name string) (c catalogue) {
	src, err := texts.ReadFile("texts/" + name + ".toml")
	if err == nil {
		err = toml.NewDecoder(bytes.NewReader(src)).DisallowUnknownFields().Decode(&c)
	}
	if err != nil {
		panic(fmt.Sprintf("texts/%s.toml: %v", name, err))
	}
	return c
}

// sayAll makes each text that may have several lines one line.
func (c *catalogue) sayAll() {
	for _, laws := range [][]Law{c.Laws, c.servers} {
		for i := range laws {
			c.say(&laws[i].Says, &laws[i].Why)
		}
	}
	for i := range c.Kinds {
		k := &c.Kinds[i]
		c.say(&k.Signature, &k.Why, &k.Fix, &k.Windows)
		for j := range k.Findings {
			w := &k.Findings[j]
			c.say(&w.Title, &w.Expected, &w.Found, &w.Value, &w.Narrative)
		}
	}
	for i := range c.Doubts {
		c.say(&c.Doubts[i].Means, &c.Doubts[i].Do, &c.Doubts[i].Launched)
	}
	for i := range c.Causes {
		c.say(&c.Causes[i].Narrative, &c.Causes[i].Fix, &c.Causes[i].Windows)
	}
	for i := range c.Duties {
		c.say(&c.Duties[i].Why, &c.Duties[i].Fix)
	}
}

// phrase is the place of a phrase in a text.
var phrase = regexp.MustCompile(`<<([a-z-]+)>>`)

func (c *catalogue) say(all ...*string) {
	for _, s := range all {
		for phrase.MatchString(*s) {
			*s = phrase.ReplaceAllStringFunc(*s, func(place string) string { return c.Phrases[strings.Trim(place, "<>")] })
		}
		*s = strings.Join(strings.Fields(*s), " ")
	}
}

// Doubt is a reason why a run can't be called clean, with what to do about it.
type Doubt struct {
	Code  record.DoubtCode
	Means string
	Do    string
	// Launched is what to do instead where the host has launched each server at least once; "" where that makes no difference.
	Launched string
}

// Advice is what to do about the doubt in a run. launched says that the host has launched each server that the scenario needs.
func (d Doubt) Advice(launched bool) string {
	if launched && d.Launched != "" {
		return d.Launched
	}
	return d.Do
}

// Cause is what is said of a cause. The code that fingerprints hash is record.Cause: nothing else here is hashed.
type Cause struct {
	Code      record.Cause
	Text      string // in a title
	Narrative string // what has happened to {server}, of {session}
	Fix       string // what to do about it before what the kind says
	Windows   string // likewise on Windows, where that is something else
	// Alone says that nothing else helps with a server that ignores stdin EOF and signals.
	Alone bool
}

// Duty says of a finding whose duty it is to end what was left, by what the host says that it is.
type Duty struct{ Why, Fix string }

// duty is by kind of host, and by how its session or it ended.
type duty struct {
	Host     record.Duty
	Causes   []record.Cause // none: any other way
	Why, Fix string
}

// thread is the threads of a repository that are field reports: the first one has that number.
type thread struct {
	First      int
	Repository string
	Threads    []int
}
