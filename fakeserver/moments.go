package fakeserver

// The moments at which a server can do something wrong.
const (
	onStart      = "start"
	onDiscover   = "discover"
	onInitialize = "initialize"
	onList       = "list"
	onCall       = "call"
	onPing       = "ping"
	onEPIPE      = "epipe"
	onEOF        = "eof"
	onTerm       = "term"
	onExit       = "exit"
	onOrder      = "order"
)

// Doc describes a moment or an action. With names what it goes with: the
// actions of a moment, the moments of an action.
type Doc struct {
	Name  string
	Text  string
	With  []string
	As    []Doc  // the ways of an action, the default first
	Needs string // the field that an action can't do without, or ""
}

// Moments are the values of Fault.On, in the order of a server's life.
var Moments = momentDocs()

// Actions are the values of Fault.Do.
var Actions = actionDocs()

func momentDocs() []Doc {
	docs := []Doc{
		{Name: onStart, Text: "before it reads stdin"},
		{Name: onDiscover, Text: "when it is asked server/discover"},
		{Name: onInitialize, Text: "when it is asked initialize"},
		{Name: onList, Text: "when it is asked tools/list"},
		{Name: onCall, Text: "when it is asked tools/call (of one tool, with tool)"},
		{Name: onPing, Text: "when it is asked ping"},
		{Name: onEPIPE, Text: "when a write to stdout fails because nobody can read it any more"},
		{Name: onEOF, Text: "when it reads the end of stdin"},
		{Name: onTerm, Text: "when it is asked to end by SIGTERM, SIGINT or SIGHUP"},
		{Name: onExit, Text: "when it is about to exit, after the end of stdin or a signal"},
		{Name: onOrder, Text: "when the scenario says so (a break step); not in a script"},
	}
	for i := range docs {
		for _, a := range allActions() {
			if contains(a.on, docs[i].Name) {
				docs[i].With = append(docs[i].With, a.name)
			}
		}
	}
	return docs
}

func actionDocs() []Doc {
	var docs []Doc
	for _, a := range allActions() {
		docs = append(docs, Doc{Name: a.name, Text: a.text, With: a.on, As: a.as, Needs: a.needs})
	}
	return docs
}

// Names are the names of what is described.
func Names(docs []Doc) []string {
	var all []string
	for _, d := range docs {
		all = append(all, d.Name)
	}
	return all
}
