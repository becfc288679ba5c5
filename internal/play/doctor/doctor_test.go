package doctor_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/play/doctor"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/reexec/reexectest"
)

func TestMain(m *testing.M) { reexectest.Main(m) }

// healthy is a machine on which nothing is missing.
func healthy() doctor.Facts {
	return doctor.Facts{
		System:  record.System{OS: "linux", Arch: "amd64", Kernel: "6.8", CPUs: 4, UID: 1000},
		Witness: record.Witness{Ledger: "SO_PEERCRED", Census: "procfs", Subreaper: true, Cgroup: "/x"},
		Fails:   map[string]string{}, Untried: map[string]bool{}, Files: doctor.Limit{Soft: 1 << 20}, Processes: doctor.Limit{},
		PIDMax: 1 << 22, TicksPerSecond: 100, Init: doctor.Init{Name: "systemd"},
		Sockets: doctor.Sockets{Wanted: "/tmp", Dir: "/tmp", Length: 30, Max: 107},
		Disk:    doctor.Disk{Dir: "/", Free: 1 << 40, Other: "another folder"},
		Browser: doctor.Browser{Command: "/usr/bin/xdg-open"},
		Peers:   []doctor.Peer{{Name: "node", Path: "/bin/node", Version: "v1"}},
		Trial:   doctor.Trial{Took: time.Second, Outcome: "clean"},
	}
}

func named(t *testing.T, checks []doctor.Check, name string) doctor.Check {
	t.Helper()
	at := slices.IndexFunc(checks, func(c doctor.Check) bool { return c.Name == name })
	require.GreaterOrEqual(t, at, 0, "no line %s", name)
	return checks[at]
}

func TestHealthy(t *testing.T) {
	t.Parallel()
	checks := doctor.Diagnose(healthy())
	for _, c := range checks {
		assert.Equal(t, doctor.OK, c.State, "%+v", c)
		assert.NotEmpty(t, c.Found, c.Name)
	}
	assert.True(t, doctor.Works(checks))
	assert.Equal(t, "run", checks[len(checks)-1].Name)
	assert.False(t, doctor.Works(nil), "without a trial nothing is known to work")
}

// Each thing that is wrong is told on one line alone, with what follows and
// what to do.
func TestDiagnose(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil       func(*doctor.Facts)
		line        string
		state       doctor.State
		found, does string
	}{
		"other census":       {func(f *doctor.Facts) { f.Witness.Census = "gopsutil" }, "census", doctor.Weaker, "gopsutil", "Linux"},
		"no attestation":     {func(f *doctor.Facts) { f.Witness.Ledger = "none" }, "ledger", doctor.Weaker, "not attested", ""},
		"no subreaper":       {func(f *doctor.Facts) { f.Witness.Subreaper = false }, "subreaper", doctor.Weaker, "not adopted", "prctl"},
		"no pidfd":           {func(f *doctor.Facts) { f.Fails["pidfd"] = "ENOSYS" }, "pidfd", doctor.Weaker, "ENOSYS", "5.3"},
		"no sock_diag":       {func(f *doctor.Facts) { f.Fails["sock-diag"] = "EPERM" }, "sock-diag", doctor.Weaker, "EPERM", "unix_diag"},
		"no delegation":      {func(f *doctor.Facts) { f.Fails["cgroup"] = "mkdir: permission denied" }, "cgroup", doctor.Weaker, "denied", "Delegate=yes"},
		"cgroup read-only":   {func(f *doctor.Facts) { f.Fails["cgroup"] = "mkdir: read-only file system" }, "cgroup", doctor.Weaker, "read-only", "container"},
		"no cgroup v2":       {func(f *doctor.Facts) { f.Fails["cgroup"] = "no cgroup v2 here" }, "cgroup", doctor.Weaker, "no cgroup", "mount cgroup2"},
		"old cgroup":         {func(f *doctor.Facts) { f.Fails["cgroup"] = "stat cgroup.kill: no such file" }, "cgroup", doctor.Weaker, "cgroup.kill", "5.14"},
		"hidepid":            {func(f *doctor.Facts) { f.Fails["proc"], f.HiddenAdvice = "hidden", "remount" }, "proc", doctor.Weaker, "hidden", "remount"},
		"yama":               {func(f *doctor.Facts) { f.Own.Unseen, f.Yama = []string{"syscall: denied"}, "2" }, "evidence", doctor.Weaker, "syscall: denied", "ptrace_scope is 2"},
		"other users":        {func(f *doctor.Facts) { f.Other = doctor.Sight{Who: "pid 1", Unseen: []string{"exe: denied"}} }, "others", doctor.Weaker, "pid 1: exe", "CAP_SYS_PTRACE"},
		"no user namespace":  {func(f *doctor.Facts) { f.Fails["user-namespace"] = "EPERM" }, "user-namespace", doctor.Missing, "EPERM", "userns"},
		"no pid namespace":   {func(f *doctor.Facts) { f.Fails["pid-namespace"] = "EPERM" }, "pid-namespace", doctor.Missing, "EPERM", "root"},
		"no ns_last_pid":     {func(f *doctor.Facts) { f.Fails["ns-last-pid"] = "EROFS" }, "ns-last-pid", doctor.Missing, "EROFS", "writable"},
		"few descriptors":    {func(f *doctor.Facts) { f.Files = doctor.Limit{Soft: 256, Hard: 4096} }, "files", doctor.Weaker, "256", "ulimit -n 65536"},
		"a low hard limit":   {func(f *doctor.Facts) { f.Files = doctor.Limit{Soft: 256, Hard: 256} }, "files", doctor.Weaker, "256", "hard limit (256)"},
		"few processes":      {func(f *doctor.Facts) { f.Processes = doctor.Limit{Soft: 100, Hard: 4096} }, "processes", doctor.Weaker, "100", "ulimit -u"},
		"few pids":           {func(f *doctor.Facts) { f.PIDMax = 300 }, "pid-max", doctor.Weaker, "300", "pid_max"},
		"an idle init":       {func(f *doctor.Facts) { f.Init = doctor.Init{Name: "sleep", Zombies: 3, Container: true} }, "pid-1", doctor.Weaker, "not reaped 3", "--init"},
		"a long TMPDIR":      {func(f *doctor.Facts) { f.Sockets.Wanted = "/very/long" }, "sockets", doctor.Weaker, "/tmp", "shorter"},
		"no folder at all":   {func(f *doctor.Facts) { f.Sockets.Error = "nowhere" }, "sockets", doctor.Missing, "nowhere", "TMPDIR"},
		"little disk":        {func(f *doctor.Facts) { f.Disk.Free = 500 << 20 }, "disk", doctor.Weaker, "500 MiB", "another folder"},
		"no disk":            {func(f *doctor.Facts) { f.Disk.Free = 1 << 20 }, "disk", doctor.Missing, "1 MiB", "another folder"},
		"disk not writable":  {func(f *doctor.Facts) { f.Disk.Error = "denied" }, "disk", doctor.Missing, "denied", "another folder"},
		"no browser":         {func(f *doctor.Facts) { f.Browser.Error = "no browser found" }, "browser", doctor.Missing, "no browser found", "BROWSER"},
		"no node":            {func(f *doctor.Facts) { f.Peers[0].Path = "" }, "node", doctor.Missing, "not found", "install"},
		"a broken node":      {func(f *doctor.Facts) { f.Peers[0].Error = "exit 1" }, "node", doctor.Weaker, "exit 1", "by hand"},
		"no run":             {func(f *doctor.Facts) { f.Trial.Error = "no keeper" }, "run", doctor.Missing, "no keeper", "report"},
		"a run with a doubt": {func(f *doctor.Facts) { f.Trial.Outcome, f.Trial.Why = "inconclusive", "lost" }, "run", doctor.Weaker, "lost", "again"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := healthy()
			c.spoil(&f)
			checks := doctor.Diagnose(f)
			for _, check := range checks {
				if check.Name != c.line {
					assert.Equal(t, doctor.OK, check.State, "%+v", check)
					continue
				}
				assert.Equal(t, c.state, check.State)
				assert.Contains(t, check.Found, c.found)
				assert.Contains(t, check.Do, c.does)
				if c.line != "census" {
					assert.NotEmpty(t, check.Means)
				}
			}
			named(t, checks, c.line)
			assert.Equal(t, c.line != "run" || c.state != doctor.Missing, doctor.Works(checks))
		})
	}
}

// What does not exist on a system is left out, not called missing.
func TestUntried(t *testing.T) {
	t.Parallel()
	f := healthy()
	f.Untried["pid-1"] = true
	for _, c := range doctor.Diagnose(f) {
		assert.NotEqual(t, "pid-1", c.Name)
	}
}

// The machine of the test is looked at for real.
func TestLook(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("hosts cannot be started on Windows yet")
	}
	self, err := os.Executable()
	require.NoError(t, err)
	out := filepath.Join(t.TempDir(), "not", "there", "yet")
	f := doctor.Look(t.Context(), doctor.Params{Self: self, Out: out})
	checks := doctor.Diagnose(f)
	run := named(t, checks, "run")
	assert.NotEqual(t, doctor.Missing, run.State, "%+v", run)
	assert.True(t, doctor.Works(checks))
	assert.Equal(t, "clean", f.Trial.Outcome, f.Trial.Why)
	assert.Equal(t, runtime.GOOS, f.System.OS)
	assert.NotEmpty(t, f.Witness.Census)
	assert.NotZero(t, f.Disk.Free)
	assert.NoDirExists(t, out, "the doctor makes nothing")
	assert.Empty(t, leftIn(t, filepath.Dir(filepath.Dir(filepath.Dir(out)))))
	if runtime.GOOS == "linux" {
		assert.Empty(t, f.Own.Unseen, "a child of ours hides nothing from us")
		assert.Equal(t, 100, f.TicksPerSecond, "USER_HZ is 100 on every architecture that Go runs on")
		assert.NotZero(t, f.PIDMax)
		assert.Equal(t, f.Witness.Cgroup == "", f.Fails["cgroup"] != "", "the doctor and the run agree on the cgroup: %q, %q", f.Witness.Cgroup, f.Fails["cgroup"])
	}
}

func leftIn(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// Where no run works the doctor says so, and why.
func TestLookAtBrokenBench(t *testing.T) {
	t.Parallel()
	f := doctor.Look(t.Context(), doctor.Params{Self: filepath.Join(t.TempDir(), "no-such-program"), Out: t.TempDir()})
	checks := doctor.Diagnose(f)
	assert.False(t, doctor.Works(checks))
	assert.Contains(t, named(t, checks, "run").Found, "no such file")
}
