package subject_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/tier"
)

// chatty are drivers whose client prints to stdout when it is imported, and at each step.
var chatty = map[string][]string{
	"python3": {"python", "driver.py", `
import contextlib, os, subprocess, sys
print("imported", flush=True)
from leakbench import driver
class Client:
    async def open(self, command, args):
        print("opening", flush=True)
        subprocess.run([sys.executable, "-c", "print(1)"])
    async def call(self, tool, arguments):
        os.write(1, b"calling\n")
        return "text"
    async def close(self):
        print("closing", flush=True)
driver.run("chatty", "1", driver.Clients(Client))
`},
	"node": {"node", "driver.mjs", `
import { run } from './leakbench/driver.mjs';
console.log('imported');
await run({ host: 'chatty', version: '1', connect: async () => {
    console.log('opening');
    return { call: async () => (console.info('calling'), 'text'), close: () => process.stdout.write('closing\n') };
} });
`},
}

// TestHelpersKeepStdoutForTheProtocol: clients that log to stdout can be tested with the libraries for Python and Node.
func TestHelpersKeepStdoutForTheProtocol(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Published)
	for interpreter, file := range chatty {
		t.Run(interpreter, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, helped(t, interpreter, file), scripts{"s": {}})
			assert.Equal(t, "chatty", l.hello.Host)
			l.open("s", "s")
			resp := l.ok(driver.Request{Op: driver.OpCall, Session: "s", Tool: "echo"})
			assert.Equal(t, `"text"`, string(resp.Result))
			l.ok(driver.Request{Op: driver.OpClose, Session: "s"})
			l.ok(driver.Request{Op: driver.OpStop})
		})
	}
}

// helped is the command of a driver that uses one of the libraries: the folder of its language, its name and its text.
func helped(t *testing.T, interpreter string, file []string) []string {
	t.Helper()
	path, err := exec.LookPath(interpreter)
	if err != nil {
		require.NotEqual(t, "all", os.Getenv("LEAKBENCH_REQUIRE"), err)
		t.Skip(err)
	}
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(dir, "leakbench"), os.DirFS("../../integrations/"+file[0]+"/leakbench")))
	program := filepath.Join(dir, file[1])
	require.NoError(t, os.WriteFile(program, []byte(file[2]), 0o600))
	return []string{path, program}
}

// TestAClientWithoutALimit: in Node the library gives it up, and ends what has begun.
func TestAClientWithoutALimit(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Published)
	l := newLab(t, helped(t, "node", []string{"node", "driver.mjs", `
import { limited, run } from './leakbench/driver.mjs';
let ended = 0;
await run({ host: 'endless', version: '1', connect: async ({ args }, options) => {
    while (args.includes('cancelled') && !options.signal.aborted) await new Promise(setImmediate);
    if (!args.includes('s')) await limited(new Promise(() => {}), options, () => { ended++; });
    await limited(Promise.resolve(), options, () => { ended += 100; });
    if (args.includes('s')) { // cancelled, and out of time a moment later: it ends once
        await limited(new Promise(() => {}), { signal: AbortSignal.abort(), timeout: 1 }, () => { ended += 10; }).catch(() => {});
        await new Promise(resolve => setTimeout(resolve, 2));
    }
    return { call: async () => String(ended), close: () => {} };
} });
`}), scripts{"s": {}, "late": {}, "cancelled": {}})
	late := l.openRequest("late", "late")
	late.TimeoutMS = 50
	assert.Equal(t, "not done within the time limit of 50 ms", l.do(late).Error)
	late.TimeoutMS = 0
	for _, req := range []driver.Request{late, l.openRequest("cancelled", "cancelled")} { // while it lasts, and before it is asked to be limited
		cut := l.begin(req)
		l.ok(driver.Request{Op: driver.OpCancel, Target: cut.ID})
		assert.Equal(t, "cancelled", l.wait(cut).Error)
	}
	l.open("s", "s")
	assert.Equal(t, `"13"`, string(l.ok(driver.Request{Op: driver.OpCall, Session: "s", Tool: "count"}).Result))
	l.ok(driver.Request{Op: driver.OpStop})
}

// TestAClientThatBlocks: its open lasts as long as it lasts, and what it has opened after it was cancelled is closed.
func TestAClientThatBlocks(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Published)
	l := newLab(t, helped(t, "python3", []string{"python", "driver.py", `
import threading
from leakbench import driver
release, closed = threading.Event(), []
class Client:
    def open(self, command, args):
        if "late" in args: release.wait()
    def call(self, tool, arguments, seconds):
        if tool == "release": release.set()
        return f"{len(closed)} {seconds}"
    def close(self):
        closed.append(self)
driver.run("blocking", "1", driver.Clients(Client))
`}), scripts{"s": {}, "late": {}})
	l.open("s", "s")
	late := l.begin(l.openRequest("late", "late"))
	l.ok(driver.Request{Op: driver.OpCancel, Target: late.ID})
	assert.Equal(t, `"0 None"`, string(l.ok(driver.Request{Op: driver.OpCall, Session: "s", Tool: "release"}).Result))
	assert.Equal(t, "cancelled", l.wait(late).Error)
	assert.Equal(t, `"1 60.0"`, string(l.ok(driver.Request{Op: driver.OpCall, Session: "s", Tool: "count", TimeoutMS: 60_000}).Result))
	l.ok(driver.Request{Op: driver.OpStop})
}
