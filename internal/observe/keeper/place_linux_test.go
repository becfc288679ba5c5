package keeper_test

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/observe/keeper"
	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
)

// needsPlace skips where this user can't have a namespace.
func needsPlace(t *testing.T, place record.Place) {
	t.Helper()
	if err := keeper.TryPlace(place); err != nil {
		if os.Getenv("LEAKBENCH_REQUIRE") == "all" {
			t.Fatalf("no %s here: %v", place, err)
		}
		t.Skipf("no %s here: %v", place, err)
	}
}

// innerPID is a process's pid in its innermost namespace.
func innerPID(t *testing.T, pid int) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if all, ok := strings.CutPrefix(line, "NSpid:"); ok {
			fields := strings.Fields(all)
			return fields[len(fields)-1]
		}
	}
	t.Fatal("no NSpid")
	return ""
}

// TestPlaces: the host is where it is to be, seen from outside; what is beside
// it is in no census; its own exit is told, and the sweep leaves nothing.
func TestPlaces(t *testing.T) {
	t.Parallel()
	for place, parent := range map[record.Place]string{record.PlacePID1: "keeper", record.PlaceInit: "placement", record.PlaceSubreaper: "placement"} {
		t.Run(string(place), func(t *testing.T) {
			t.Parallel()
			needsPlace(t, place)
			f := startIn(t, place, "plain", "setsid", "orphan")
			host := f.host.Process
			args, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(host.PPID), "cmdline"))
			require.NoError(t, err)
			assert.Contains(t, string(args), parent)
			assert.Equal(t, host.PID, host.PGID, "it leads a group of its own")
			inner := innerPID(t, host.PID)
			assert.Equal(t, place == record.PlacePID1, inner == "1")
			assert.Equal(t, inner, strconv.Itoa(f.pids["ready"]), "and sees its own number in /proc")

			census, err := f.Census(t.Context())
			require.NoError(t, err)
			require.NotNil(t, census.Host)
			assert.Equal(t, host.Identity, census.Host.Identity)
			byInner := map[string]record.Process{}
			var ids []record.Identity
			for _, p := range census.Processes {
				byInner[innerPID(t, p.PID)] = p
				ids = append(ids, p.Identity)
				assert.Equal(t, "sleep", p.Comm, "neither the placement nor the bystander is the host's")
			}
			require.Len(t, byInner, 3)
			home := host.PID
			if place != record.PlacePID1 {
				home = host.PPID
			}
			assert.Equal(t, home, byInner[strconv.Itoa(f.pids["orphan"])].PPID, "where orphans come home")
			require.NotNil(t, f.host.Bystander)
			pgid, err := syscall.Getpgid(f.host.Bystander.PID)
			require.NoError(t, err)
			assert.Equal(t, host.PID, pgid)

			require.NoError(t, f.Signal(t.Context(), host.Identity, "SIGKILL"))
			e := f.exit(t)
			assert.True(t, e.Host && e.Asked, "%+v", e)
			assert.Equal(t, host.Identity, e.Identity)
			assert.Equal(t, "SIGKILL", e.Exit.Signal)
			require.NoError(t, f.host.Stdout.SetReadDeadline(time.Now().Add(10*time.Second)))
			_, err = io.Copy(io.Discard, f.host.Stdout)
			require.NoError(t, err, "nobody else holds the host's stdout")
			if place == record.PlaceSubreaper {
				left, err := f.Sweep(t.Context())
				require.NoError(t, err)
				assert.Len(t, left, 3, "what the host left")
			}
			gone(t, ids) // with the namespace, or by the sweep
		})
	}
}

// TestPlacesEndWithTheKeeper: killed itself, it leaves nothing either.
func TestPlacesEndWithTheKeeper(t *testing.T) {
	t.Parallel()
	for _, place := range []record.Place{record.PlacePID1, record.PlaceInit, record.PlaceSubreaper} {
		t.Run(string(place), func(t *testing.T) {
			t.Parallel()
			needsPlace(t, place)
			f := startIn(t, place)
			ids := []record.Identity{f.host.Process.Identity}
			if place != record.PlacePID1 {
				placement, err := proc.Identify(f.host.Process.PPID)
				require.NoError(t, err)
				ids = append(ids, placement)
			}
			f.killed = true
			require.NoError(t, syscall.Kill(f.Hello.PID, syscall.SIGKILL))
			<-f.Done()
			gone(t, ids)
		})
	}
}

// TestRecycle: a process of the bench's gets the very pid of one that has died,
// as the host's namespace has it, and a group of that number; whoever signals
// by number hits it, and that is told.
func TestRecycle(t *testing.T) {
	t.Parallel()
	needsPlace(t, record.PlaceInit)
	f := startIn(t, record.PlaceInit, "plain")
	_, err := f.Recycle(t.Context(), f.pids["plain"])
	require.ErrorContains(t, err, "still in use")

	census, err := f.Census(t.Context())
	require.NoError(t, err)
	require.Len(t, census.Processes, 1)
	_, err = f.Recycle(t.Context(), 4321)
	require.NoError(t, err)
	innocent, err := f.Recycle(t.Context(), 5321)
	require.NoError(t, err)
	assert.Equal(t, "5321", innerPID(t, innocent.PID))
	assert.Equal(t, innocent.PID, innocent.PGID)
	after, err := f.Census(t.Context())
	require.NoError(t, err)
	assert.Len(t, after.Processes, 1, "it is none of the host's")

	require.NoError(t, syscall.Kill(-innocent.PGID, syscall.SIGTERM))
	e := f.exit(t)
	assert.True(t, e.Recycled, "%+v", e)
	assert.Equal(t, innocent.Identity, e.Identity)
	assert.Equal(t, "SIGTERM", e.Exit.Signal)
}

// TestRecycleBesideThreads: a host that starts threads meanwhile does not get the number instead, and keep it.
func TestRecycleBesideThreads(t *testing.T) {
	t.Parallel()
	needsPlace(t, record.PlaceInit)
	f := startIn(t, record.PlaceInit, "threads")
	for pid := 10321; pid < 10321+20*500; pid += 500 {
		_, err := f.Recycle(t.Context(), pid)
		require.NoError(t, err)
	}
}

func startIn(t *testing.T, place record.Place, kinds ...string) *fixture {
	t.Helper()
	f := bare(t)
	self, err := os.Executable()
	require.NoError(t, err)
	f.host, err = f.StartHost(t.Context(), keeper.HostParams{
		Argv: append([]string{self, "tree"}, kinds...), Stderr: filepath.Join(f.dir, "host.log"), Place: place, Bystander: true,
	})
	require.NoError(t, err)
	t.Cleanup(func() { f.host.Stdin.Close(); f.host.Stdout.Close() })
	f.pids = readPIDs(t, f.host.Stdout)
	return f
}
