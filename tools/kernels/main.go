//go:build linux

// Command kernels plays a scenario on machines that this one is not: kernels of other ages, plain users, and what an administrator may
// forbid them. Each kernel is one of Debian's, booted in qemu with an initramfs of this program, the bench and busybox. Expected is what
// settings.go says of each setting; what differs is printed, and fails the command.
//
//	go run ./tools/kernels [-suites bookworm,trixie] [-only regexp] [-times N] [-slow] [-jobs N] [-keep FOLDER]
//
// It needs a Debian with its package mirror, and root where a package is missing.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// suites are Debian releases, from the oldest kernel to the newest. The first is older than cgroup.kill (5.14).
const suites = "bullseye,bookworm,trixie,forky"

type options struct {
	suites []string
	only   *regexp.Regexp
	times  int
	slow   bool
	accel  string
	keep   string
	wait   time.Duration
	jobs   int
}

func main() {
	if os.Getpid() == 1 {
		inside()
		return
	}
	var o options
	names := flag.String("suites", suites, "releases of Debian whose kernels are booted")
	only := flag.String("only", "", "play the settings whose name matches this regular expression")
	flag.IntVar(&o.times, "times", 1, "how often each setting is played")
	flag.BoolVar(&o.slow, "slow", false, "stop the machine for most of the time, as a starved one: inconclusive is right then, too")
	flag.StringVar(&o.accel, "accel", "", "kvm or tcg; empty is kvm where it works")
	flag.StringVar(&o.keep, "keep", "", "folder for what the machines said; empty is a temporary one that is removed")
	flag.DurationVar(&o.wait, "wait", 20*time.Minute, "how long one machine may take")
	flag.IntVar(&o.jobs, "jobs", max(1, runtime.NumCPU()/2), "machines at a time; each has one processor")
	flag.Parse()
	o.suites, o.only = strings.Split(*names, ","), regexp.MustCompile(*only)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	right, err := o.play(ctx)
	stop()
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "kernels:", err)
		os.Exit(2)
	case !right:
		os.Exit(1)
	}
}

// play boots each kernel and holds what it says against what is expected.
func (o options) play(ctx context.Context) (right bool, err error) {
	dir := o.keep
	if dir == "" {
		if dir, err = os.MkdirTemp("", "kernels-"); err != nil {
			return false, err
		}
		defer os.RemoveAll(dir)
	}
	if err := needTools(ctx); err != nil {
		return false, err
	}
	programs, err := build(ctx, dir)
	if err != nil {
		return false, err
	}
	if o.accel == "" {
		o.accel = accelerator(ctx)
	}
	fmt.Printf("machines run with %s\n", o.accel)
	kernels := make([]kernel, len(o.suites))
	for i, suite := range o.suites {
		if kernels[i], err = fetch(ctx, suite, filepath.Join(dir, suite)); err != nil {
			return false, fmt.Errorf("the kernel of %s: %w", suite, err)
		}
	}
	return o.playAll(ctx, dir, kernels, programs)
}

// playAll boots the kernels side by side and prints what came of each as soon as it has ended.
func (o options) playAll(ctx context.Context, dir string, kernels []kernel, programs []entry) (right bool, err error) {
	var all sync.WaitGroup
	var printing sync.Mutex
	right = true
	turns := make(chan bool, max(1, o.jobs))
	for _, k := range kernels {
		all.Go(func() {
			turns <- true
			defer func() { <-turns }()
			folder := filepath.Join(dir, k.suite)
			said, err := o.boot(ctx, k, programs, folder)
			printing.Lock()
			defer printing.Unlock()
			if err != nil {
				fmt.Printf("\n%s (%s)\n      NOT AS EXPECTED: %v\n", k.version, k.suite, err)
			}
			right = err == nil && o.judge(k, said, folder) && right
		})
	}
	all.Wait()
	return right, nil
}
