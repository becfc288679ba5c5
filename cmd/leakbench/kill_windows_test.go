package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/windows"

	"github.com/leakbench/leakbench/internal/files"
)

// TestKilledBenches: a bench that is terminated at any moment leaves nothing of its run, whatever the servers ignore. The program
// has a name of its own for each bench, by which all of its processes are found.
func TestKilledBenches(t *testing.T) {
	slots := make(chan struct{}, 2)
	for i := range 20 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			slots <- struct{}{}
			defer func() { <-slots }()
			killOne(t, fmt.Sprintf("lbkill%d.exe", i), []string{deafStorm, deafForest}[i%2])
		})
	}
}

func killOne(t *testing.T, name, scenario string) {
	t.Helper()
	dir := t.TempDir()
	program, file := filepath.Join(dir, name), filepath.Join(dir, "kill.yaml")
	copyOf(t, program)
	require.NoError(t, os.WriteFile(file, []byte(scenario), 0o600))
	cmd := exec.CommandContext(t.Context(), program, "run", file, "--host", "naive", "--out", filepath.Join(dir, "runs"))
	cmd.Cancel, cmd.WaitDelay = func() error { return cmd.Process.Kill() }, time.Second
	require.NoError(t, cmd.Start())
	// The bench, its keeper, the host, the control's keeper and server: with more than these the run is under way.
	wanted := 6 + rand.IntN(10)
	most := 0
	require.Eventually(t, func() bool {
		most = max(most, running(t, name))
		return most >= wanted
	}, time.Minute, time.Millisecond, "%d processes of %d", most, wanted)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	begun := time.Now()
	assert.Eventually(t, func() bool { return running(t, name) == 0 }, 20*time.Second, 10*time.Millisecond, "left of %d", most)
	t.Logf("%d processes, gone after %v", most, time.Since(begun))
}

func copyOf(t *testing.T, program string) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	text, err := os.ReadFile(self)
	require.NoError(t, err)
	require.NoError(t, files.Program(program, text))
}

// running is how many processes run a program of that name.
func running(t *testing.T, name string) (n int) {
	t.Helper()
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	require.NoError(t, err)
	defer func() { _ = windows.CloseHandle(snapshot) }()
	p := windows.ProcessEntry32{Size: uint32(unsafe.Sizeof(windows.ProcessEntry32{}))}
	for err = windows.Process32First(snapshot, &p); err == nil; err = windows.Process32Next(snapshot, &p) {
		if windows.UTF16ToString(p.ExeFile[:]) == name {
			n++
		}
	}
	return n
}
