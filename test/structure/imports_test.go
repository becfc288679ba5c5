package structure_test

import (
	"errors"
	"go/build"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/leakbench/leakbench/"

// house says, for each package, which others of the project it may import.
// The order is from the ground floor up: no arrow runs up.
var house = []struct {
	pkg  string
	may  []string
	why  string
	deny []string // packages from outside that it must not import, directly
}{
	{
		pkg: "internal/lines",
		why: "a leaf, which fake servers link",
	},
	{
		pkg: "internal/bug",
		why: "a leaf: a bug may be anywhere",
	},
	{
		pkg: "internal/duration",
		why: "a leaf, which fake servers link",
	},
	{
		pkg: "internal/lists",
		why: "a leaf, which fake servers link",
	},
	{
		pkg: "internal/await",
		why: "a leaf, which fake servers link",
	},
	{
		pkg: "internal/text",
		why: "a leaf",
	},
	{
		pkg: "internal/files",
		why: "a leaf: what a command line names may be a pipe",
		may: []string{"internal/duration"},
	},
	{
		pkg: "internal/redact",
		why: "it knows words, not files",
		may: []string{"internal/text"},
	},
	{
		pkg: "internal/redact/redacttest",
		why: "it is for tests",
	},
	{
		pkg: "internal/cpuload",
		why: "a leaf",
	},
	{
		pkg: "internal/console",
		why: "a leaf: how a process is asked says nothing of which one",
	},
	{
		pkg: "internal/winjob",
		why: "a leaf: a job does not know what is in it",
	},
	{
		pkg: "internal/kit",
		why: "a leaf, which tests of other modules link",
	},
	{
		pkg: "internal/tier",
		why: "it is for tests: which of them are played says nothing of what they test",
	},
	{
		pkg:  "internal/record",
		why:  "a run file must be readable without anything that made it",
		may:  []string{"internal/duration", "internal/files", "internal/lines", "internal/redact"},
		deny: []string{"os/exec", "net"},
	},
	{
		pkg:  "internal/history",
		why:  "history is a pure function of events",
		may:  []string{"internal/record"},
		deny: []string{"os", "os/exec", "net"},
	},
	{
		pkg:  "internal/yamlfile",
		why:  "how a file is read says nothing of what is in it",
		may:  []string{"internal/lists", "internal/text"},
		deny: []string{"os", "os/exec", "net"},
	},
	{
		pkg: "internal/yamlfile/yamltest",
		why: "it is for tests",
		may: []string{"internal/yamlfile"},
	},
	{
		pkg: "fakeserver/birth",
		why: "what a fake server links decides how fast it starts",
		may: []string{"internal/lines"},
		deny: []string{
			"net/http", "html/template", "github.com/shirou/gopsutil/v3", "github.com/shirou/gopsutil/v4",
			"golang.org/x/sys/unix",
		},
	},
	{
		pkg: "fakeserver",
		why: "the fake server dispatches from init, before the heavy packages are initialised, and must stay light",
		may: []string{"fakeserver/birth", "internal/await", "internal/duration", "internal/lines", "internal/lists"},
		deny: []string{
			"github.com/mark3labs/mcp-go", "net/http", "html/template", "github.com/spf13/cobra",
			"github.com/goccy/go-yaml",
		},
	},
	{
		pkg:  "internal/law",
		why:  "the catalogue of laws is data: it knows no run",
		may:  []string{"internal/record", "internal/text"},
		deny: []string{"os", "os/exec", "net", "time"},
	},
	{
		pkg: "scenarios",
		why: "a scenario is data: it does not know how it is run or judged",
		may: []string{
			"fakeserver", "internal/files", "internal/law", "internal/lists", "internal/record", "internal/text",
			"internal/yamlfile",
		},
		deny: []string{"os/exec", "net"},
	},
	{
		pkg: "driver",
		why: "it is for other modules: it knows neither the bench nor a host",
		may: []string{"internal/duration", "internal/lines"},
	},
	{
		pkg: "integrations",
		why: "files",
	},
	{
		pkg: "hosts",
		why: "files",
		may: []string{"integrations"},
	},
	{
		pkg: "hosts/mcpgo",
		why: "a host under test must not know the bench",
		may: []string{"driver"},
	},
	{
		pkg: "hosts/gosdk",
		why: "a host under test must not know the bench",
		may: []string{"driver"},
	},
	{
		pkg: "internal/proc/portable",
		why: "the portable reader is a second opinion: it must not read as the first one does",
		may: []string{"internal/record", "internal/redact", "internal/text"},
	},
	{
		pkg: "internal/proc",
		why: "process facts know nothing of MCP or of guilt",
		may: []string{"internal/proc/portable", "internal/record", "internal/redact", "internal/text"},
	},
	{
		pkg: "test/trickhost",
		why: "a trick host is a program under test: it must not know the bench",
		may: []string{"driver"},
	},
	{
		pkg: "test/trickhost/trick",
		why: "only dispatch",
		may: []string{"test/trickhost"},
	},
	{
		pkg:  "internal/subject/hostconfig",
		why:  "the shape of a file says nothing of who reads it",
		may:  []string{"driver", "internal/lists"},
		deny: []string{"os", "os/exec", "net"},
	},
	{
		pkg:  "internal/subject/catalogue",
		why:  "a table of data: it links no client and no process",
		may:  []string{"driver"},
		deny: []string{"os", "os/exec", "net", "github.com/mark3labs/mcp-go"},
	},
	{
		pkg: "internal/subject/python",
		why: "it finds a program, whatever that is for",
		may: []string{"internal/winjob"},
	},
	{
		pkg: "internal/subject",
		why: "the accused never meets the judge: no ledger, no census, no verdict",
		may: []string{
			"driver", "internal/duration", "internal/files", "internal/lines", "internal/lists", "internal/record",
			"internal/subject/catalogue", "internal/subject/hostconfig", "internal/subject/python", "internal/text",
		},
	},
	{
		pkg: "internal/subject/hostfile",
		why: "a host file is data: it does not know how a host is run",
		may: []string{
			"driver", "hosts", "internal/files", "internal/lists", "internal/record", "internal/subject",
			"internal/subject/hostconfig", "internal/text", "internal/yamlfile", "scenarios",
		},
		deny: []string{"os/exec", "net"},
	},
	{
		pkg: "internal/subject/install",
		why: "it puts packages into a folder, whatever they are for",
		may: []string{"internal/lines", "internal/subject/python", "internal/winjob"},
	},
	{
		pkg: "internal/subject/hostinit",
		why: "it writes a file, and tries nothing",
		may: []string{
			"hosts", "integrations", "internal/lists", "internal/record", "internal/subject",
			"internal/subject/hostconfig", "internal/subject/hostfile", "internal/text",
		},
		deny: []string{"os/exec", "net"},
	},
	{
		pkg: "internal/subject/gateway",
		why: "the clients before a gateway know no more of the bench than a host does",
		may: []string{"driver", "fakeserver/birth", "hosts/mcpgo", "internal/lists", "internal/subject"},
	},
	{
		pkg: "internal/subject/oneshot",
		why: "a scheduler of commands knows no more of the bench than a host does",
		may: []string{"driver", "internal/console", "internal/duration", "internal/subject"},
	},
	{
		pkg: "internal/subject/refhost",
		why: "a reference host is a program under test: it must not know the bench",
		may: []string{
			"driver", "hosts/mcpgo", "internal/await", "internal/duration", "internal/lists", "internal/subject/catalogue",
			"internal/winjob",
		},
	},
	{
		pkg:  "internal/subject/fit",
		why:  "what can be asked of a host is known before it starts",
		may:  []string{"driver", "internal/record", "internal/subject", "scenarios"},
		deny: []string{"os", "os/exec", "net", "time"},
	},
	{
		pkg: "internal/observe/socket",
		why: "what the kernel says of a connection is no matter of what is said over it",
		may: []string{"fakeserver/birth"},
	},
	{
		pkg: "internal/observe/socket/sockettest",
		why: "it is for tests",
	},
	{
		pkg: "internal/observe/ledger",
		why: "the birth socket does not know what faults mean",
		may: []string{
			"fakeserver/birth", "internal/bug", "internal/lines", "internal/observe/socket", "internal/record",
			"internal/redact", "internal/text",
		},
	},
	{
		pkg: "internal/observe/keeper",
		why: "the keeper knows processes, not MCP, scenarios or guilt",
		may: []string{
			"internal/bug", "internal/console", "internal/duration", "internal/observe/socket", "internal/proc",
			"internal/record", "internal/winjob",
		},
		deny: []string{"github.com/mark3labs/mcp-go"},
	},
	{
		pkg:  "internal/observe/patience",
		why:  "how long to wait follows from what was seen, and from what the bench had of the processors",
		may:  []string{"fakeserver", "internal/history", "internal/record"},
		deny: []string{"os/exec", "net"},
	},
	{
		pkg:  "internal/observe/attach",
		why:  "attach only reads: it knows no laws, and starts and ends nothing",
		may:  []string{"internal/observe/patience", "internal/proc", "internal/record"},
		deny: []string{"os/exec", "net", "os/signal"},
	},
	{
		pkg:  "internal/observe/outside",
		why:  "who ends processes of a run from outside is for the kernel to say",
		deny: []string{"os/exec", "net"},
	},
	{
		pkg: "internal/observe",
		why: "what is observed is written down alike, whoever plays",
		may: []string{
			"internal/bug", "internal/observe/keeper", "internal/observe/ledger", "internal/observe/outside",
			"internal/observe/patience", "internal/proc", "internal/record", "internal/redact",
		},
	},
	{
		pkg: "internal/observe/host",
		why: "the runner writes down and judges nothing",
		may: []string{
			"driver", "fakeserver", "internal/bug", "internal/duration", "internal/history", "internal/lists",
			"internal/observe", "internal/observe/keeper", "internal/observe/ledger", "internal/observe/outside",
			"internal/observe/patience", "internal/observe/socket", "internal/proc", "internal/record",
			"internal/redact", "internal/subject", "internal/subject/fit", "internal/text", "scenarios",
		},
	},
	{
		pkg: "internal/observe/server",
		why: "the runner of a server under test writes down and judges nothing",
		may: []string{
			"internal/bug", "internal/lines", "internal/observe", "internal/observe/keeper",
			"internal/observe/outside", "internal/observe/patience", "internal/proc", "internal/record",
			"internal/redact", "internal/text",
		},
	},
	{
		pkg:  "internal/reexec/early",
		why:  "what it links decides how fast a keeper starts",
		may:  []string{"internal/console", "internal/cpuload", "internal/observe/keeper"},
		deny: []string{"github.com/mark3labs/mcp-go", "net/http", "html/template"},
	},
	{
		pkg: "internal/reexec",
		why: "only dispatch",
		may: []string{
			"hosts/gosdk", "hosts/mcpgo", "internal/reexec/early", "internal/subject/catalogue",
			"internal/subject/gateway", "internal/subject/oneshot", "internal/subject/refhost",
		},
	},
	{
		pkg: "internal/reexec/reexectest",
		why: "it is for tests",
		may: []string{"fakeserver", "internal/reexec"},
	},
	{
		pkg:  "internal/judge/prose",
		why:  "a sentence says what it is given, and decides nothing",
		may:  []string{"internal/duration", "internal/history", "internal/record", "internal/text"},
		deny: []string{"os", "os/exec", "net"},
	},
	{
		pkg:  "internal/judge/facts",
		why:  "what a run shows does not depend on any law",
		may:  []string{"internal/history", "internal/judge/prose", "internal/lists", "internal/record", "internal/text"},
		deny: []string{"os", "os/exec", "net"},
	},
	{
		pkg: "internal/judge/breach",
		why: "what breaks a law is said in the same words of all three subjects",
		may: []string{
			"internal/history", "internal/judge/facts", "internal/judge/prose", "internal/record",
		},
		deny: []string{"os", "os/exec", "net"},
	},
	{
		pkg: "internal/judge/attach",
		why: "what a watch shows is a function of the run alone: no clock, no process, no network",
		may: []string{
			"internal/history", "internal/judge/breach", "internal/judge/facts", "internal/judge/prose",
			"internal/lists", "internal/record", "internal/text",
		},
		deny: []string{"os", "os/exec", "net", "net/http", "math/rand", "math/rand/v2", "syscall", "io/fs"},
	},
	{
		pkg: "internal/judge/doubts",
		why: "a doubt takes what the laws have told, and breaks none",
		may: []string{
			"internal/history", "internal/judge/breach", "internal/judge/facts", "internal/judge/prose", "internal/law",
			"internal/lists", "internal/record", "internal/text",
		},
		deny: []string{
			"os", "os/exec", "net", "net/http", "math/rand", "math/rand/v2", "syscall", "io/fs", "path/filepath",
		},
	},
	{
		pkg: "internal/judge/server",
		why: "what a server does is a function of the run alone: no clock, no process, no network",
		may: []string{
			"internal/history", "internal/judge/breach", "internal/judge/facts", "internal/judge/prose", "internal/law",
			"internal/record", "internal/text",
		},
		deny: []string{
			"os", "os/exec", "net", "net/http", "math/rand", "math/rand/v2", "syscall", "io/fs", "path/filepath",
		},
	},
	{
		pkg: "internal/judge/verdict",
		why: "a verdict is a function of the run alone: no clock, no process, no network",
		may: []string{
			"internal/history", "internal/judge/attach", "internal/judge/breach", "internal/judge/doubts",
			"internal/judge/facts", "internal/judge/prose", "internal/judge/server", "internal/law", "internal/lists", "internal/record",
			"internal/text",
		},
		deny: []string{"os", "os/exec", "net"},
	},
	{
		pkg:  "internal/judge/rows",
		why:  "how a client keeps the specification follows from the run alone",
		may:  []string{"internal/history", "internal/judge/prose", "internal/record"},
		deny: []string{"os", "os/exec", "net"},
	},
	{
		pkg: "internal/judge/compare",
		why: "what differs between runs follows from the runs alone",
		may: []string{
			"internal/history", "internal/judge/verdict", "internal/law", "internal/lists", "internal/record",
		},
		deny: []string{"os", "os/exec", "net", "time"},
	},
	{
		pkg: "internal/judge/known",
		why: "a list is held against runs that were judged",
		may: []string{
			"internal/files", "internal/judge/compare", "internal/judge/verdict", "internal/law", "internal/text",
			"internal/yamlfile",
		},
		deny: []string{"os/exec", "net"},
	},
	{
		pkg: "internal/judge/gate",
		why: "whether a change may go in follows from runs and the day alone",
		may: []string{
			"internal/files", "internal/judge/compare", "internal/judge/known", "internal/judge/verdict",
			"internal/lists", "internal/record", "internal/text",
		},
		deny: []string{"os/exec", "net"},
	},
	{
		pkg:  "internal/judge/scoreboard",
		why:  "a scoreboard is a function of judged runs: it does not play them",
		may:  []string{"internal/duration", "internal/history", "internal/judge/verdict", "internal/record"},
		deny: []string{"os", "os/exec", "net"},
	},
	{
		pkg:  "report/words",
		why:  "how numbers and hostile text are written says nothing of runs",
		may:  []string{"internal/record", "internal/text"},
		deny: []string{"os", "os/exec", "net", "net/http", "math/rand", "math/rand/v2"},
	},
	{
		pkg: "report/model",
		why: "a run as the reports show it says nothing of any format",
		may: []string{
			"internal/duration", "internal/history", "internal/judge/attach", "internal/judge/compare",
			"internal/judge/verdict", "internal/law", "internal/lists", "internal/record", "internal/text",
			"report/words",
		},
		deny: []string{"os", "os/exec", "net", "net/http", "math/rand", "math/rand/v2"},
	},
	{
		pkg: "report/terminal",
		why: "a report is a function of run and verdict",
		may: []string{
			"internal/duration", "internal/judge/attach", "internal/judge/rows", "internal/judge/verdict",
			"internal/law", "internal/record", "internal/text", "report/model", "report/words",
		},
		deny: []string{"os", "os/exec", "net", "net/http", "math/rand", "math/rand/v2"},
	},
	{
		pkg: "report/baseline",
		why: "what is new is decided by the gate: it is only said here",
		may: []string{
			"internal/duration", "internal/judge/compare", "internal/judge/gate", "internal/judge/known",
			"internal/judge/verdict", "internal/text", "report/model", "report/terminal", "report/words",
		},
		deny: []string{"os", "os/exec", "net", "net/http", "math/rand", "math/rand/v2"},
	},
	{
		pkg: "report/baseline/baselinetest",
		why: "it is for tests",
		may: []string{
			"internal/judge/compare", "internal/judge/gate", "internal/judge/known", "internal/judge/verdict",
			"report/baseline",
		},
	},
	{
		pkg: "report/formats",
		why: "a format for programs knows nothing of pages",
		may: []string{
			"internal/duration", "internal/judge/attach", "internal/judge/breach", "internal/judge/compare", "internal/judge/gate",
			"internal/judge/known", "internal/judge/rows", "internal/judge/verdict", "internal/law", "internal/lists",
			"internal/record", "internal/text", "report/baseline", "report/model", "report/words",
		},
		deny: []string{"os", "os/exec", "net", "net/http", "math/rand", "math/rand/v2"},
	},
	{
		pkg: "report/page",
		why: "a page is a function of run and verdict",
		may: []string{
			"internal/duration", "internal/history", "internal/judge/compare", "internal/judge/verdict",
			"internal/law", "internal/lists", "internal/record", "internal/text", "report/baseline", "report/model",
			"report/words",
		},
		deny: []string{"os", "os/exec", "net", "net/http", "math/rand", "math/rand/v2"},
	},
	{
		pkg: "report/scoreboard",
		why: "a board is written, not played",
		may: []string{
			"internal/duration", "internal/judge/scoreboard", "internal/record", "internal/text", "report/model",
			"report/page", "report/words",
		},
		deny: []string{"os", "os/exec", "net", "net/http", "math/rand", "math/rand/v2"},
	},
	{
		pkg: "report",
		why: "the front door only has the table of formats",
		may: []string{
			"internal/judge/compare", "internal/judge/scoreboard", "internal/judge/verdict", "report/baseline",
			"report/formats", "report/page", "report/scoreboard", "report/terminal",
		},
		deny: []string{"os", "os/exec", "net", "net/http", "math/rand", "math/rand/v2"},
	},
	{
		pkg:  "internal/play/progress",
		why:  "the status line shows events, it does not judge them",
		may:  []string{"internal/bug", "internal/duration", "internal/record", "internal/text"},
		deny: []string{"os", "os/exec", "net"},
	},
	{
		pkg: "internal/play",
		why: "it is the use of the bench, and knows no flags",
		may: []string{
			"internal/bug", "internal/files", "internal/history", "internal/judge/gate", "internal/judge/known",
			"internal/judge/prose", "internal/judge/scoreboard", "internal/judge/verdict", "internal/law",
			"internal/lists", "internal/observe", "internal/observe/host", "internal/play/progress",
			"internal/record", "internal/redact", "internal/subject", "internal/subject/catalogue",
			"internal/subject/fit", "internal/subject/hostfile", "internal/text", "internal/yamlfile",
			"report/baseline", "report/model", "report/page", "scenarios",
		},
	},
	{
		pkg: "internal/play/lab",
		why: "the bench for a test is a user of it, not a part",
		may: []string{
			"driver", "fakeserver", "internal/bug", "internal/judge/verdict", "internal/kit", "internal/lines",
			"internal/observe/host", "internal/play", "internal/proc", "internal/record", "internal/redact",
			"internal/subject", "internal/text", "report/terminal", "scenarios",
		},
		deny: []string{"github.com/spf13/cobra"},
	},
	{
		pkg:  "internal/play/explore/grammar",
		why:  "a scenario that was made is data, like one that was written",
		may:  []string{"fakeserver", "internal/record", "scenarios"},
		deny: []string{"os", "os/exec", "net"},
	},
	{
		pkg: "internal/play/explore/cover",
		why: "what was tried follows from scenarios and runs",
		may: []string{
			"fakeserver", "internal/history", "internal/play/explore/grammar", "internal/record", "scenarios",
		},
		deny: []string{"os", "os/exec", "net"},
	},
	{
		pkg:  "internal/play/explore/shrink",
		why:  "it makes scenarios smaller, and does not know what for",
		may:  []string{"fakeserver", "internal/lists", "internal/record", "scenarios"},
		deny: []string{"os", "os/exec", "net"},
	},
	{
		pkg: "internal/play/explore",
		why: "who explores is a user of the bench, not a part",
		may: []string{
			"driver", "internal/files", "internal/judge/known", "internal/judge/verdict", "internal/lists",
			"internal/observe/keeper", "internal/play", "internal/play/explore/cover",
			"internal/play/explore/grammar", "internal/play/explore/shrink", "internal/record", "internal/subject",
			"internal/subject/fit", "internal/text", "report/words", "scenarios",
		},
		deny: []string{"github.com/spf13/cobra"},
	},
	{
		pkg: "internal/play/doctor",
		why: "it tries what a run needs, a whole run and the laws included",
		may: []string{
			"internal/bug", "internal/duration", "internal/judge/verdict", "internal/law", "internal/lines", "internal/lists",
			"internal/observe/keeper", "internal/observe/ledger", "internal/observe/socket", "internal/play",
			"internal/proc", "internal/record", "internal/subject", "internal/subject/catalogue",
			"internal/subject/hostfile", "internal/text", "scenarios",
		},
	},
	{
		pkg: "internal/play/server",
		why: "it tries a server, and knows no flags",
		may: []string{
			"internal/judge/verdict", "internal/lists", "internal/observe", "internal/observe/server",
			"internal/play", "internal/record", "internal/subject", "internal/subject/fit", "scenarios",
		},
		deny: []string{"github.com/spf13/cobra"},
	},
	{
		pkg: "internal/play/shelf",
		why: "which hosts are installed is no matter of how one is played",
		may: []string{"internal/subject", "internal/subject/hostfile", "internal/subject/install"},
	},
	{
		pkg: "internal/play/bisect",
		why: "which version it plays next follows from what the others were",
		may: []string{
			"internal/judge/gate", "internal/judge/verdict", "internal/play", "internal/play/shelf",
			"internal/subject/hostfile", "internal/subject/install", "scenarios",
		},
		deny: []string{"os", "os/exec", "net"},
	},
	{
		pkg: "internal/play/attach",
		why: "it watches what runs already, and plays nothing",
		may: []string{
			"internal/bug", "internal/duration", "internal/judge/attach", "internal/judge/verdict",
			"internal/observe", "internal/observe/attach", "internal/play", "internal/proc", "internal/record",
			"internal/text", "report/formats", "report/terminal",
		},
		deny: []string{"os/exec"},
	},
	{
		pkg: "internal/play/project",
		why: "it reads and checks files, and plays nothing",
		may: []string{
			"internal/files", "internal/judge/known", "internal/observe/server", "internal/record",
			"internal/subject/hostfile", "internal/yamlfile", "report", "scenarios",
		},
		deny: []string{"os/exec", "net"},
	},
	{
		pkg:  "leaktest",
		why:  "it is for the tests of other modules: what it links they link, and it asks the program as the other kits do",
		may:  []string{"driver", "internal/kit", "internal/lines"},
		deny: []string{"testing"},
	},
	{
		pkg: "test/judge2",
		why: "a second opinion shares no witness with the first",
		may: []string{"internal/record", "scenarios"},
	},
	{
		pkg: "test/matrix",
		why: "it is a table: who is in it says nothing of how they are played",
	},
	{
		pkg:  "test/corpus",
		why:  "it holds the judge to saved runs: it plays none",
		may:  []string{"internal/judge/verdict", "internal/record"},
		deny: []string{"os/exec", "net"},
	},
}

func TestArrowsRunOneWay(t *testing.T) {
	seen := map[string]bool{}
	for _, room := range house {
		seen[room.pkg] = true
		for _, imported := range importsOf(t, room.pkg) {
			if own, ok := strings.CutPrefix(imported, module); ok {
				assert.Contains(t, room.may, own, "%s imports %s: %s", room.pkg, own, room.why)
			}
			for _, denied := range room.deny {
				assert.False(t, imported == denied || strings.HasPrefix(imported, denied+"/") && strings.Contains(denied, "."),
					"%s imports %s: %s", room.pkg, imported, room.why)
			}
		}
		for _, below := range room.may {
			assert.True(t, seen[below], "%s stands below %s in the table, so the arrow would run up", below, room.pkg)
		}
	}
	for _, pkg := range packages(t) {
		known := seen[pkg] || strings.HasPrefix(pkg, "cmd/") || strings.HasPrefix(pkg, "tools/") || strings.HasPrefix(pkg, "examples/") || strings.HasPrefix(pkg, "internal/bench") || pkg == "."
		assert.True(t, known, "package %s is not in the table of the house", pkg)
	}
}

// folders are the folders of the house, from the ground floor up. Of two that hold a package the longer one counts.
var folders = []string{
	"internal", "internal/tier", "internal/record", "internal/history", "internal/yamlfile", "fakeserver", "internal/law", "scenarios", "driver",
	"integrations", "hosts", "internal/proc", "internal/subject", "internal/observe", "internal/reexec", "internal/judge", "report",
	"internal/play", "leaktest", "test",
}

func folderOf(pkg string) int {
	in := -1
	for i, folder := range folders {
		longer := in < 0 || len(folder) > len(folders[in])
		if (pkg == folder || strings.HasPrefix(pkg, folder+"/")) && longer {
			in = i
		}
	}
	return in
}

// TestFoldersRunOneWay: a folder is a floor, too. No package imports one from a folder above its own.
func TestFoldersRunOneWay(t *testing.T) {
	for _, room := range house {
		here := folderOf(room.pkg)
		require.GreaterOrEqual(t, here, 0, "%s is in no folder of the list", room.pkg)
		for _, imported := range importsOf(t, room.pkg) {
			if own, isOwn := strings.CutPrefix(imported, module); isOwn {
				assert.LessOrEqual(t, folderOf(own), here, "%s imports %s, from a folder above its own", room.pkg, own)
			}
		}
	}
}

// TestThePublicPackagesLinkNothingFromOutside: what a package imports from another module, by whatever way, is in the go.mod of each
// module that imports it.
func TestThePublicPackagesLinkNothingFromOutside(t *testing.T) {
	for _, from := range public {
		seen := map[string]bool{}
		for todo := []string{from}; len(todo) > 0; todo = todo[1:] {
			for _, imported := range importsOf(t, todo[0]) {
				own, isOwn := strings.CutPrefix(imported, module)
				root, _, _ := strings.Cut(imported, "/")
				assert.True(t, isOwn || !strings.Contains(root, "."), "%s, which %s needs, imports %s", todo[0], from, imported)
				if isOwn && !seen[own] {
					seen[own] = true
					todo = append(todo, own)
				}
			}
		}
	}
}

// TestTheProductHasNothingOfTests: what only tests need is in test, which only they and the tools import.
func TestTheProductHasNothingOfTests(t *testing.T) {
	for _, pkg := range packages(t) {
		if strings.HasPrefix(pkg, "test/") || strings.HasPrefix(pkg, "tools/") {
			continue
		}
		for _, imported := range importsOf(t, pkg) {
			assert.False(t, strings.HasPrefix(imported, module+"test/"), "%s imports %s, which is for tests", pkg, imported)
		}
	}
}

// importsOf lists what a package imports directly on any of the systems it is
// built for.
func importsOf(t *testing.T, pkg string) []string {
	var all []string
	for _, system := range []string{"linux", "darwin", "windows"} {
		ctx := build.Default
		ctx.GOOS, ctx.CgoEnabled = system, false
		p, err := ctx.ImportDir(pkg, 0)
		if none := (*build.NoGoError)(nil); !errors.As(err, &none) { // it may be for one system
			require.NoError(t, err, pkg)
		}
		all = append(all, p.Imports...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// packages lists the folders that hold Go files other than tests.
func packages(t *testing.T) []string {
	t.Helper()
	return goFolders(t, false)
}

// goFolders lists the folders that hold Go files, with those that hold only tests or without them.
func goFolders(t *testing.T, withTests bool) []string {
	t.Helper()
	var found []string
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); path != "." && (strings.HasPrefix(name, ".") || name == "testdata") {
				return filepath.SkipDir
			}
			return nil
		}
		if strings.HasSuffix(path, ".go") && (withTests || !strings.HasSuffix(path, "_test.go")) {
			found = append(found, filepath.ToSlash(filepath.Dir(path)))
		}
		return nil
	}))
	slices.Sort(found)
	return slices.Compact(found)
}
