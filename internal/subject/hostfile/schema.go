package hostfile

import (
	"strings"

	"github.com/leakbench/leakbench/internal/yamlfile"
)

// SchemaURL is where the schema of the format is found, and its name.
const SchemaURL = "https://raw.githubusercontent.com/leakbench/leakbench/main/docs/host.schema.json"

// Schema is the JSON Schema (draft 2020-12) of the host file, for editors. It
// is what the reader asks for, place by place.
func Schema() []byte {
	root := yamlfile.DescribeFile(yamlfile.ShapeOf(func(n *yamlfile.Node) { read(n) }), SchemaURL, "leakbench host", textOf)
	root["description"] = "A host that leakbench can put on the bench: docs/host-file.md"
	root["$defs"] = yamlfile.Object{"name": yamlfile.NameSchema(), "time": yamlfile.TimeSchema()}
	return yamlfile.EncodeSchema(root)
}

// words are what an editor shows, where the reader's own words do not do.
var words = map[string]string{
	"command":              "the command line, a list without a shell; {{server}} is the fake server's, {{config}} the config file, {{port}} a free port, {{run}} a folder for this run, {{dir}} the folder of this file, {{install}} the installed packages",
	"env":                  "variables on top of the bench's own",
	"workdir":              "the working directory; the bench's own where nothing is said",
	"config":               "a file that is written before the host starts",
	"config.path":          "where; the format's usual name in {{run}} where nothing is said",
	"config.merge":         "keys of the document, merged deep",
	"config.entry":         "keys of each server's entry",
	"config.template":      "the file's own text, instead of a format",
	"ready":                "how the bench knows that it is up",
	"drive":                "driver: it speaks the driver protocol; http: a gateway; oneshot: a command for each job of a tick; nothing: it is started, watched and stopped",
	"drive.http.servers":   "for whom it launches a server: per-session where nothing is said",
	"drive.http.transport": "streamable where nothing is said",
	"stop":                 "its orderly end: SIGTERM where nothing is said",
	"stop.eof":             "its stdin is closed first",
	"stop.within":          "the longest orderly end of the host",
	"settle":               "the longest orderly end of one server; 15s where nothing is said",
	"confirm":              "its longest request time limit: how long a survivor is watched on",
	"start":                "how long it may take to be ready; 15s where nothing is said",
	"launches":             "expected server launches for a connect; 1 where nothing is said",
	"resident":             "how many servers of a label it keeps on purpose when their sessions end",
	"not_applicable":       "what can't be asked of it, and why",
	"scenarios":            "what differs for a scenario",
	"install":              "the packages that leakbench hosts install puts in place",
}

func textOf(path, what string) string {
	if text, ok := words[strings.ReplaceAll(path, "[]", "")]; ok {
		return text
	}
	return what
}
