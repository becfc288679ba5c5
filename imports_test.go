package leakbench_test

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
	{pkg: "internal/lines", why: "a leaf, which fake servers link"},
	{pkg: "internal/bug", why: "a leaf: a bug may be anywhere"},
	{pkg: "internal/duration", why: "a leaf, which fake servers link"},
	{pkg: "internal/lists", why: "a leaf, which fake servers link"},
	{pkg: "internal/files", may: []string{"internal/duration"}, why: "a leaf: what a command line names may be a pipe"},
	{pkg: "internal/await", why: "a leaf, which fake servers link"},
	{pkg: "internal/text", why: "a leaf"},
	{pkg: "internal/redact", may: []string{"internal/text"}, why: "it knows words, not files"},
	{pkg: "internal/redact/redacttest", why: "it is for tests"},
	{pkg: "internal/record", may: []string{"internal/files", "internal/duration", "internal/lines", "internal/redact"}, why: "a run file must be readable without anything that made it", deny: []string{"os/exec", "net"}},
	{pkg: "internal/cpuload", why: "a leaf"},
	{pkg: "internal/console", why: "a leaf: how a process is asked says nothing of which one"},
	{pkg: "internal/winjob", why: "a leaf: a job does not know what is in it"},
	{pkg: "internal/stage/proc/portable", may: []string{"internal/record", "internal/redact", "internal/text"}, why: "the portable reader is a second opinion: it must not read as the first one does"},
	{pkg: "internal/stage/proc", may: []string{"internal/record", "internal/redact", "internal/text", "internal/stage/proc/portable"}, why: "process facts know nothing of MCP or of guilt"},
	{
		pkg: "internal/stage/birth", may: []string{"internal/lines"}, why: "what a fake server links decides how fast it starts",
		deny: []string{"net/http", "html/template", "github.com/shirou/gopsutil/v3", "github.com/shirou/gopsutil/v4", "golang.org/x/sys/unix"},
	},
	{pkg: "internal/stage/socket", may: []string{"internal/stage/birth"}, why: "what the kernel says of a connection is no matter of what is said over it"},
	{pkg: "internal/stage/socket/sockettest", why: "it is for tests"},
	{pkg: "internal/stage/ledger", may: []string{"internal/bug", "internal/stage/socket", "internal/lines", "internal/text", "internal/record", "internal/stage/birth"}, why: "the birth socket does not know what faults mean"},
	{pkg: "internal/history", may: []string{"internal/record"}, why: "history is a pure function of events", deny: []string{"os", "os/exec", "net"}},
	{
		pkg: "fakeserver", may: []string{"internal/lists", "internal/await", "internal/duration", "internal/lines", "internal/stage/birth"},
		why:  "the fake server dispatches from init, before the heavy packages are initialised, and must stay light",
		deny: []string{"github.com/mark3labs/mcp-go", "net/http", "html/template", "github.com/spf13/cobra", "github.com/goccy/go-yaml"},
	},
	{pkg: "internal/yamlfile", may: []string{"internal/lists", "internal/record", "internal/text"}, why: "how a file is read says nothing of what is in it", deny: []string{"os", "os/exec", "net"}},
	{pkg: "internal/yamlfile/yamltest", may: []string{"internal/yamlfile"}, why: "it is for tests"},
	{
		pkg: "internal/judge/law", may: []string{"internal/record", "internal/text"}, why: "the catalogue of laws is data: it knows no run",
		deny: []string{"os", "os/exec", "net", "time"},
	},
	{
		pkg: "scenarios", may: []string{"internal/files", "internal/lists", "internal/record", "internal/judge/law", "internal/yamlfile", "internal/text", "fakeserver"}, why: "a scenario is data: it does not know how it is run or judged",
		deny: []string{"os/exec", "net"},
	},
	{pkg: "driver", may: []string{"internal/duration", "internal/lines", "internal/text"}, why: "it is for other modules: it knows neither the bench nor a host"},
	{pkg: "internal/subject/hostconfig", may: []string{"internal/lists", "driver"}, why: "the shape of a file says nothing of who reads it", deny: []string{"os", "os/exec", "net"}},
	{pkg: "internal/subject/catalogue", may: []string{"driver"}, why: "a table of data: it links no client and no process", deny: []string{"os", "os/exec", "net", "github.com/mark3labs/mcp-go"}},
	{pkg: "internal/subject/python", may: []string{"internal/winjob"}, why: "it finds a program, whatever that is for"},
	{pkg: "internal/subject/host", may: []string{"internal/subject/python", "internal/duration", "internal/files", "internal/lists", "internal/lines", "internal/record", "driver", "internal/subject/catalogue", "internal/subject/hostconfig", "internal/text"}, why: "the accused never meets the judge: no ledger, no census, no verdict"},
	{pkg: "integrations", why: "files"},
	{pkg: "hosts", may: []string{"integrations"}, why: "files"},
	{
		pkg: "internal/subject/hostfile", may: []string{"internal/files", "scenarios", "internal/lists", "internal/record", "internal/yamlfile", "driver", "internal/subject/hostconfig", "internal/subject/host", "internal/text", "hosts"},
		why: "a host file is data: it does not know how a host is run", deny: []string{"os/exec", "net"},
	},
	{pkg: "internal/subject/install", may: []string{"internal/lines", "internal/subject/python", "internal/winjob"}, why: "it puts packages into a folder, whatever they are for"},
	{
		pkg: "internal/subject/hostinit", may: []string{"internal/lists", "internal/record", "internal/yamlfile", "internal/subject/hostconfig", "internal/subject/host", "internal/subject/hostfile", "internal/text", "integrations", "hosts"},
		why: "it writes a file, and tries nothing", deny: []string{"os/exec", "net"},
	},
	{
		pkg: "internal/subject/gateway", may: []string{"internal/stage/birth", "internal/lists", "internal/text", "driver", "internal/subject/host"},
		why: "the clients before a gateway know no more of the bench than a host does",
	},
	{pkg: "internal/subject/oneshot", may: []string{"internal/console", "internal/duration", "driver", "internal/subject/host"}, why: "a scheduler of commands knows no more of the bench than a host does"},
	{pkg: "internal/subject/refhost", may: []string{"internal/duration", "internal/lists", "internal/await", "internal/winjob", "internal/subject/catalogue", "driver"}, why: "a reference host is a program under test: it must not know the bench"},
	{pkg: "hosts/mcpgo", may: []string{"driver"}, why: "a host under test must not know the bench"},
	{pkg: "hosts/gosdk", may: []string{"driver"}, why: "a host under test must not know the bench"},
	{pkg: "internal/stage/keeper", may: []string{"internal/console", "internal/winjob", "internal/duration", "internal/stage/socket", "internal/record", "internal/stage/proc"}, why: "the keeper knows processes, not MCP, scenarios or guilt", deny: []string{"github.com/mark3labs/mcp-go"}},
	{pkg: "internal/stage/watch", may: []string{"internal/record", "internal/stage/proc"}, why: "a watch only reads: it knows no laws, and starts and ends nothing", deny: []string{"os/exec", "net", "os/signal"}},
	{pkg: "internal/stage/patience", may: []string{"internal/record", "internal/history", "fakeserver"}, why: "how long to wait follows from what was seen: it looks at nothing itself", deny: []string{"os", "os/exec", "net"}},
	{pkg: "internal/stage/starved", may: []string{"internal/record"}, why: "how long to wait follows from what the bench had of the processors", deny: []string{"os/exec", "net"}},
	{pkg: "internal/stage/outside", may: []string{}, why: "who ends processes of a run from outside is for the kernel to say", deny: []string{"os/exec", "net"}},
	{pkg: "internal/stage/hostlog", may: []string{"internal/bug", "internal/redact"}, why: "a log is text: it says nothing of processes"},
	{
		pkg: "internal/stage/fit", may: []string{"internal/record", "driver", "internal/subject/host", "scenarios"},
		why: "what can be asked of a host is known before it starts", deny: []string{"os", "os/exec", "net", "time"},
	},
	{
		pkg: "internal/stage/observe", why: "what is observed is written down alike, whoever plays",
		may: []string{"internal/bug", "internal/record", "internal/redact", "internal/stage/keeper", "internal/stage/ledger", "internal/stage/outside", "internal/stage/patience", "internal/stage/proc", "internal/stage/starved"},
	},
	{
		pkg: "internal/stage/control", why: "a server is tried without the host: this knows none",
		may: []string{"internal/bug", "internal/record", "internal/stage/proc", "internal/stage/ledger", "internal/stage/keeper", "fakeserver", "scenarios"},
	},
	{
		pkg: "internal/stage/runner", why: "the runner writes down and judges nothing",
		may: []string{"internal/bug", "internal/duration", "internal/stage/socket", "internal/stage/control", "internal/stage/fit", "internal/stage/hostlog", "internal/lists", "internal/record", "internal/redact", "internal/text", "internal/stage/observe", "internal/stage/proc", "internal/stage/ledger", "internal/history", "fakeserver", "scenarios", "driver", "internal/subject/host", "internal/stage/keeper", "internal/stage/outside", "internal/stage/patience", "internal/stage/starved"},
	},
	{pkg: "internal/subject/checks", why: "a table of data: it tries nothing", deny: []string{"os", "os/exec", "net"}},
	{
		pkg: "internal/stage/client", why: "the client of a server under test writes down and judges nothing",
		may: []string{"internal/bug", "internal/lines", "internal/record", "internal/redact", "internal/text", "internal/stage/hostlog", "internal/stage/keeper", "internal/stage/outside", "internal/stage/observe", "internal/stage/proc", "internal/stage/starved", "internal/subject/checks"},
	},
	{
		pkg: "internal/judge/prose", may: []string{"internal/duration", "internal/record", "internal/history", "internal/text"}, why: "a sentence says what it is given, and decides nothing",
		deny: []string{"os", "os/exec", "net"},
	},
	{pkg: "internal/judge/growth", why: "it knows numbers, not processes", deny: []string{"os", "os/exec", "net", "time"}},
	{
		pkg: "internal/judge/facts", may: []string{"internal/judge/growth", "internal/lists", "internal/record", "internal/history", "internal/text", "internal/judge/prose"},
		why:  "what a run shows does not depend on any law",
		deny: []string{"os", "os/exec", "net", "net/http", "math/rand", "math/rand/v2", "syscall", "io/fs", "path/filepath"},
	},
	{
		pkg: "internal/judge/live", may: []string{"internal/judge/growth", "internal/lists", "internal/record", "internal/history", "internal/text", "internal/judge/prose"},
		why:  "what a watch shows is a function of the run alone: no clock, no process, no network",
		deny: []string{"os", "os/exec", "net", "net/http", "math/rand", "math/rand/v2", "syscall", "io/fs"},
	},
	{
		pkg: "internal/judge/doubts", may: []string{"internal/judge/facts", "internal/judge/law", "internal/judge/prose", "internal/lists", "internal/record", "internal/history", "internal/text"},
		why:  "a doubt takes what the laws have told, and breaks none",
		deny: []string{"os", "os/exec", "net", "net/http", "math/rand", "math/rand/v2", "syscall", "io/fs", "path/filepath"},
	},
	{
		pkg: "internal/judge/server", may: []string{"internal/judge/growth", "internal/judge/facts", "internal/judge/prose", "internal/record", "internal/history", "internal/text"},
		why:  "what a server does is a function of the run alone: no clock, no process, no network",
		deny: []string{"os", "os/exec", "net", "net/http", "math/rand", "math/rand/v2", "syscall", "io/fs", "path/filepath"},
	},
	{
		pkg: "internal/judge/verdict", may: []string{"internal/judge/server", "internal/judge/live", "internal/judge/growth", "internal/judge/facts", "internal/judge/doubts", "internal/lists", "internal/record", "internal/history", "internal/text", "internal/judge/law", "internal/judge/prose"},
		why:  "a verdict is a function of the run alone: no clock, no process, no network",
		deny: []string{"os", "os/exec", "net", "net/http", "math/rand", "math/rand/v2", "syscall", "io/fs", "path/filepath"},
	},
	{
		pkg: "internal/judge/rows", may: []string{"internal/record", "internal/history", "internal/judge/prose"},
		why: "how a client keeps the specification follows from the run alone", deny: []string{"os", "os/exec", "net"},
	},
	{
		pkg: "internal/judge/states", may: []string{"internal/record", "internal/lists", "internal/history", "internal/judge/law", "internal/judge/verdict"},
		why: "what findings mean for a server follows from them", deny: []string{"os", "os/exec", "net", "time"},
	},
	{
		pkg: "internal/judge/compare", may: []string{"internal/judge/law", "internal/lists", "internal/record", "internal/history", "internal/judge/verdict"}, why: "what differs between runs follows from the runs alone",
		deny: []string{"os", "os/exec", "net", "time"},
	},
	{pkg: "internal/judge/known", may: []string{"internal/files", "internal/record", "internal/text", "internal/judge/law", "internal/judge/verdict", "internal/judge/compare", "internal/yamlfile"}, why: "a list is held against runs that were judged", deny: []string{"os/exec", "net"}},
	{
		pkg: "internal/judge/gate", may: []string{"internal/lists", "internal/record", "internal/text", "internal/judge/verdict", "internal/judge/compare", "internal/judge/known"}, why: "whether a change may go in follows from runs and the day alone",
		deny: []string{"os", "os/exec", "net", "io/fs", "path/filepath"},
	},
	{pkg: "internal/judge/corpus", may: []string{"internal/record", "internal/judge/verdict"}, why: "it holds the judge to saved runs: it plays none", deny: []string{"os/exec", "net"}},
	{pkg: "internal/judge/blob", may: []string{"internal/files", "internal/lists", "internal/record", "internal/judge/verdict", "internal/judge/gate"}, why: "a blob is files", deny: []string{"os/exec", "net"}},
	{
		pkg: "internal/play/scoreboard", may: []string{"internal/duration", "internal/record", "internal/history", "internal/judge/verdict"}, why: "a scoreboard is a function of judged runs: it does not play them",
		deny: []string{"os", "os/exec", "net"},
	},
	{pkg: "report/words", may: []string{"internal/record", "internal/text"}, why: "how numbers and hostile text are written says nothing of runs", deny: []string{"os", "os/exec", "net", "net/http", "math/rand", "math/rand/v2"}},
	{
		pkg: "report/model", may: []string{"internal/duration", "internal/judge/live", "internal/text", "internal/lists", "internal/record", "internal/history", "internal/judge/compare", "internal/judge/law", "internal/judge/verdict", "internal/judge/states", "report/words"},
		why: "a run as the reports show it says nothing of any format", deny: []string{"os", "os/exec", "net", "net/http", "math/rand", "math/rand/v2"},
	},
	{
		pkg: "report/terminal", may: []string{"internal/duration", "internal/judge/live", "internal/text", "internal/record", "internal/judge/rows", "internal/judge/law", "internal/judge/verdict", "report/words", "report/model"},
		why: "a report is a function of run and verdict", deny: []string{"os", "os/exec", "net", "net/http", "math/rand", "math/rand/v2"},
	},
	{
		pkg: "report/baseline", may: []string{"internal/duration", "internal/text", "internal/judge/verdict", "internal/judge/compare", "internal/judge/known", "internal/judge/gate", "report/words", "report/model", "report/terminal"},
		why: "what is new is decided by the gate: it is only said here", deny: []string{"os", "os/exec", "net", "net/http", "math/rand", "math/rand/v2"},
	},
	{
		pkg: "report/baseline/baselinetest", may: []string{"internal/judge/verdict", "internal/judge/compare", "internal/judge/known", "internal/judge/gate", "report/baseline"},
		why: "it is for tests",
	},
	{
		pkg: "report/formats", may: []string{"internal/judge/live", "internal/lists", "internal/duration", "internal/text", "internal/record", "internal/history", "internal/judge/rows", "internal/judge/law", "internal/judge/verdict", "internal/judge/compare", "internal/judge/known", "internal/judge/gate", "report/words", "report/model", "report/baseline"},
		why: "a format for programs knows nothing of pages", deny: []string{"os", "os/exec", "net", "net/http", "math/rand", "math/rand/v2"},
	},
	{
		pkg: "report/page", may: []string{"internal/duration", "internal/text", "internal/lists", "internal/record", "internal/history", "internal/judge/law", "internal/judge/verdict", "internal/judge/compare", "internal/judge/known", "internal/judge/gate", "report/words", "report/model", "report/baseline"},
		why: "a page is a function of run and verdict", deny: []string{"os", "os/exec", "net", "net/http", "math/rand", "math/rand/v2"},
	},
	{
		pkg: "report/scoreboard", may: []string{"internal/duration", "internal/text", "internal/record", "internal/play/scoreboard", "report/words", "report/model", "report/formats", "report/page"},
		why: "a board is written, not played", deny: []string{"os", "os/exec", "net", "net/http", "math/rand", "math/rand/v2"},
	},
	{
		pkg: "report", may: []string{"internal/judge/verdict", "internal/judge/compare", "internal/judge/known", "internal/judge/gate", "internal/play/scoreboard", "report/terminal", "report/baseline", "report/formats", "report/page", "report/scoreboard"},
		why: "the front door only has the table of formats", deny: []string{"os", "os/exec", "net", "net/http", "math/rand", "math/rand/v2"},
	},
	{pkg: "internal/stage/progress", may: []string{"internal/bug", "internal/duration", "internal/record", "internal/text"}, why: "the status line shows events, it does not judge them", deny: []string{"os", "os/exec", "net"}},
	{
		pkg: "internal/play", why: "who plays, saves, judges and renders is a user of the bench, not a part",
		may: []string{
			"internal/bug",
			"internal/files", "internal/stage/fit", "internal/stage/hostlog",
			"internal/lists", "internal/text", "internal/record", "internal/history", "internal/redact", "internal/yamlfile", "scenarios", "internal/judge/law", "internal/subject/catalogue", "internal/subject/host", "internal/subject/hostfile", "internal/stage/observe", "internal/stage/runner", "internal/stage/progress",
			"internal/judge/verdict", "internal/judge/known", "internal/judge/gate", "internal/play/scoreboard", "report/model", "report/baseline", "report/page",
		},
		deny: []string{"github.com/spf13/cobra"},
	},
	{
		pkg: "internal/play/lab", why: "the bench for a test is a user of it, not a part",
		may: []string{
			"internal/bug",
			"internal/lines", "internal/record", "internal/redact", "internal/text", "internal/stage/proc", "internal/stage/runner", "internal/subject/host",
			"internal/judge/verdict", "internal/play", "driver", "fakeserver", "scenarios", "report/terminal",
		},
		deny: []string{"github.com/spf13/cobra"},
	},
	{
		pkg: "internal/play/explore/grammar", why: "a scenario that was made is data, like one that was written",
		may: []string{"internal/record", "fakeserver", "scenarios"}, deny: []string{"os", "os/exec", "net"},
	},
	{
		pkg: "internal/play/explore/cover", why: "what was tried follows from scenarios and runs",
		may: []string{"internal/record", "internal/history", "fakeserver", "scenarios", "internal/play/explore/grammar"}, deny: []string{"os", "os/exec", "net"},
	},
	{
		pkg: "internal/play/explore/shrink", why: "it makes scenarios smaller, and does not know what for",
		may: []string{"internal/record", "fakeserver", "scenarios"}, deny: []string{"os", "os/exec", "net"},
	},
	{
		pkg: "internal/play/explore", why: "who explores is a user of the bench, not a part",
		may: []string{
			"internal/files", "internal/lists", "internal/text", "internal/record", "driver", "scenarios", "internal/subject/host", "internal/stage/fit", "internal/stage/keeper",
			"internal/judge/law", "internal/judge/verdict", "internal/judge/known", "internal/play", "report/words",
			"internal/play/explore/grammar", "internal/play/explore/cover", "internal/play/explore/shrink",
		},
		deny: []string{"github.com/spf13/cobra"},
	},
	{
		pkg: "leaktest", why: "it is for the tests of other modules: what it links they link, and it brings no client of its own",
		may:  []string{"internal/record", "driver", "fakeserver", "scenarios", "internal/subject/host", "internal/stage/keeper", "internal/stage/runner", "internal/play/lab"},
		deny: []string{"testing", "github.com/spf13/cobra", "github.com/mark3labs/mcp-go"},
	},
	{
		pkg: "internal/play/selftest", why: "the bench's test of itself is a user of it, not a part",
		may: []string{"internal/duration", "internal/record", "internal/text", "internal/subject/catalogue", "internal/subject/host", "internal/judge/law", "internal/judge/verdict", "internal/play", "scenarios"},
	},
	{
		pkg: "internal/play/server", why: "it tries a server, and knows no flags",
		may:  []string{"internal/duration", "internal/record", "internal/lists", "internal/text", "internal/judge/verdict", "internal/stage/client", "internal/stage/observe", "internal/subject/checks", "internal/subject/host", "internal/play", "scenarios"},
		deny: []string{"github.com/spf13/cobra"},
	},
	{
		pkg: "internal/play/shelf", why: "which hosts are installed is no matter of how one is played",
		may: []string{"internal/subject/host", "internal/subject/hostfile", "internal/subject/install"},
	},
	{
		pkg: "internal/play/bisect", why: "which version it plays next follows from what the others were", deny: []string{"os", "os/exec", "net"},
		may: []string{"internal/judge/gate", "internal/judge/verdict", "internal/play", "internal/play/shelf", "internal/subject/hostfile", "internal/subject/install", "scenarios"},
	},
	{
		pkg: "internal/play/trial", why: "it tries a host that is new to the bench",
		may: []string{"internal/record", "internal/history", "internal/text", "internal/judge/prose", "internal/judge/verdict", "internal/subject/host", "internal/play", "scenarios"},
	},
	{
		pkg: "internal/play/attach", why: "it watches what runs already, and plays nothing",
		may: []string{
			"internal/bug",
			"internal/duration", "internal/record", "internal/stage/observe", "internal/stage/proc", "internal/stage/watch", "internal/judge/live", "internal/judge/verdict",
			"internal/play", "internal/text", "report/formats", "report/terminal",
		},
		deny: []string{"os/exec"},
	},
	{
		pkg: "internal/play/doctor", why: "it tries what a run needs, a whole run included",
		may: []string{"internal/bug", "internal/duration", "internal/lines", "internal/stage/socket", "internal/subject/hostfile", "internal/record", "internal/stage/proc", "internal/stage/ledger", "scenarios", "internal/stage/keeper", "internal/judge/verdict", "internal/play"},
	},
	{
		pkg: "internal/play/project", why: "it reads a file, and plays nothing",
		may: []string{"internal/files", "internal/record", "internal/yamlfile", "scenarios", "internal/subject/hostfile", "report"}, deny: []string{"os/exec", "net"},
	},
	{
		pkg: "internal/play/validate", why: "it checks files, and plays nothing",
		may: []string{"internal/files", "internal/yamlfile", "scenarios", "internal/subject/hostfile", "internal/judge/known", "internal/play/project", "internal/subject/checks"}, deny: []string{"os/exec", "net"},
	},
	{
		pkg: "internal/stage/reexec/early", may: []string{"internal/console", "internal/cpuload", "internal/stage/keeper"},
		why:  "what it links decides how fast a keeper starts",
		deny: []string{"github.com/mark3labs/mcp-go", "net/http", "html/template"},
	},
	{pkg: "internal/stage/reexec", may: []string{"internal/stage/reexec/early", "internal/subject/catalogue", "internal/subject/refhost", "internal/subject/gateway", "internal/subject/oneshot", "hosts/mcpgo", "hosts/gosdk"}, why: "only dispatch"},
	{pkg: "internal/tier", why: "it is for tests: which of them are played says nothing of what they test"},
	{pkg: "test/trickhost", may: []string{"driver"}, why: "a trick host is a program under test: it must not know the bench"},
	{pkg: "test/trickhost/trick", may: []string{"test/trickhost"}, why: "only dispatch"},
	{pkg: "internal/stage/reexec/reexectest", may: []string{"fakeserver", "internal/stage/reexec"}, why: "it is for tests"},
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

// TestTheProductHasNothingOfTests: what only tests need is in test, which nothing else imports.
func TestTheProductHasNothingOfTests(t *testing.T) {
	for _, pkg := range packages(t) {
		if strings.HasPrefix(pkg, "test/") {
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
		if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			found = append(found, filepath.ToSlash(filepath.Dir(path)))
		}
		return nil
	}))
	slices.Sort(found)
	return slices.Compact(found)
}
