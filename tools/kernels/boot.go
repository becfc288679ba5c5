//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// A result is what one command said inside of the machine.
type result struct {
	Setting string        `json:"setting"`
	What    string        `json:"what"` // "doctor", or a host
	Code    int           `json:"code"`
	Took    time.Duration `json:"took"`
	Out     []byte        `json:"out"`
	Err     []byte        `json:"err"`
	Run     []byte        `json:"run,omitempty"`   // run.jsonl, gzipped
	Error   string        `json:"error,omitempty"` // the command could not be run
	End     bool          `json:"end,omitempty"`   // nothing follows
}

// accelerator is kvm where a machine comes up with it: a /dev/kvm that can be opened may still run nothing.
func accelerator(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	// The firmware finds nothing to boot and -no-reboot ends the machine.
	_, err := run(ctx, "", nil, "qemu-system-x86_64", "-accel", "kvm", "-cpu", "host", "-display", "none", "-net", "none",
		"-boot", "reboot-timeout=1,strict=on", "-no-reboot", "-m", "64")
	if err != nil {
		return "tcg"
	}
	return "kvm"
}

// boot runs one machine to its end and returns what was said in it.
func (o options) boot(ctx context.Context, k kernel, programs []entry, dir string) ([]result, error) {
	initramfs := filepath.Join(dir, "initramfs")
	if err := writeInitramfs(initramfs, append(programs[:len(programs):len(programs)], k.modules...)); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, o.wait)
	defer cancel()
	console, results := filepath.Join(dir, "console.log"), filepath.Join(dir, "results.jsonl")
	// Without KVM, cmpxchg16b of qemu 7.2 leaves parts of an address in EFLAGS: a kernel that uses it dies of a trap after minutes.
	cpu := "max,-cx16"
	if o.accel == "kvm" {
		cpu = "host"
	}
	clock := ""
	if o.accel == "tcg" {
		// A timer that goes off once and is lost, which happens on a busy machine, stops everything. One that ticks does not. The test of
		// whether the timer ticks takes a machine that stands still for a broken one.
		clock = " nohz=off highres=off no_timer_check"
	}
	command := fmt.Sprintf("console=ttyS0 panic=-1 quiet kernels.times=%d kernels.only=%x", o.times, o.only.String()) + clock
	// One processor: with two of them, qemu 7.2 without KVM loses timer interrupts after a while.
	cmd := exec.CommandContext(ctx, "qemu-system-x86_64", "-accel", o.accel, "-cpu", cpu, "-smp", "1", "-m", "1024", "-display", "none",
		"-net", "none", "-no-reboot", "-kernel", k.image, "-initrd", initramfs, "-append", command,
		"-serial", "file:"+console, "-serial", "file:"+results)
	cmd.WaitDelay = 5 * time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var complained strings.Builder
	cmd.Stderr = &complained
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	if o.slow {
		go starve(cmd.Process, ended)
	}
	err := cmd.Wait()
	close(ended)
	if err != nil {
		return nil, fmt.Errorf("qemu: %w\n%s%s", err, complained.String(), tail(console))
	}
	return readResults(results, console)
}

// starve lets the machine run for a third of the time: its processors stand still for longer than any settle time is exact.
func starve(machine *os.Process, ended <-chan struct{}) {
	const runs, stands = 150 * time.Millisecond, 300 * time.Millisecond
	for {
		for _, part := range []struct {
			signal os.Signal
			length time.Duration
		}{{syscall.SIGSTOP, stands}, {syscall.SIGCONT, runs}} {
			if machine.Signal(part.signal) != nil {
				return
			}
			select {
			case <-ended:
				return
			case <-time.After(part.length):
			}
		}
	}
}

func readResults(path, console string) ([]result, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var all []result
	for d := json.NewDecoder(file); ; {
		var r result
		if err := d.Decode(&r); errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("the machine ended before its last word, after %d results\n%s", len(all), tail(console))
		} else if err != nil {
			return nil, fmt.Errorf("what the machine said: %w\n%s", err, tail(console))
		}
		if r.End {
			return all, nil
		}
		all = append(all, r)
	}
}

// tail is the end of the machine's console.
func tail(path string) string {
	text, _ := os.ReadFile(path)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-30):], "\n")
}
