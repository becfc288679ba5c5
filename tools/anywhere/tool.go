package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// tool plays rows and prints their results.
type tool struct {
	settings
	options
	rows  []row
	out   io.Writer
	built map[string]bool // source folders whose tests were built
}

func (t *tool) playAll(ctx context.Context) (good bool, err error) {
	good = true
	t.printHead()
	for _, r := range t.rows {
		if len(t.only) > 0 && !slices.Contains(t.only, r.name) {
			continue
		}
		o := t.play(ctx, r)
		if ctx.Err() != nil {
			return false, errors.New("interrupted")
		}
		t.print(o)
		good = good && (o.word == passed || o.word == cant && slices.Contains(t.allow, r.name))
	}
	return good, nil
}

// play prepares the surroundings of a row and plays the command there.
func (t *tool) play(ctx context.Context, r row) outcome {
	p := t.newPlace()
	defer p.leave()
	if onlyLinux != "" {
		return outcome{row: r, word: cant, note: onlyLinux}
	}
	if err := r.prepare(ctx, p); err != nil {
		return outcome{row: r, word: cant, note: err.Error()}
	}
	if err := t.build(ctx, p); err != nil {
		return outcome{row: r, word: cant, note: err.Error()}
	}
	stop, err := p.startBusyLoops(ctx)
	if err != nil {
		return outcome{row: r, word: cant, note: err.Error()}
	}
	defer stop()
	log := filepath.Join(t.logs, r.name+".log")
	did, err := t.playIn(ctx, p, t.command, log)
	if err != nil {
		return outcome{row: r, word: cant, note: err.Error()}
	}
	return t.judge(r, p, did, log)
}

// judge returns the result of a row whose command was played.
func (t *tool) judge(r row, p *place, did played, log string) outcome {
	o := outcome{row: r, word: passed, note: p.note, played: did}
	if len(did.Left) > 0 {
		o.note = strings.TrimPrefix(o.note+"; left running and killed: "+strings.Join(did.Left, ", "), "; ")
	}
	if did.Status == 0 && len(did.Left) == 0 {
		return o
	}
	o.word, o.log = failed, log
	said, err := os.ReadFile(log)
	if err != nil {
		o.failures = []string{err.Error()}
	} else if o.failures = failures(string(said)); len(o.failures) == 0 {
		o.failures = []string{fmt.Sprintf("exit status %d", did.Status)}
	}
	return o
}

// build compiles and links the tests once for each source folder, so that the time of a row is that of the tests. It does so in
// unchanged surroundings, unless the row has its own source folder and caches.
func (t *tool) build(ctx context.Context, p *place) error {
	if t.built[p.dir] || len(t.command) < 2 || t.command[0] != "go" || t.command[1] != "test" {
		return nil
	}
	t.built[p.dir] = true
	at, log := p, "build-"+filepath.Base(p.dir)+".log"
	if p.dir == t.root {
		at, log = t.newPlace(), "build.log"
	}
	// With the flags of the command this builds the same programs, and runs `true` instead of them. Its status does not matter: a
	// package that does not build fails the row.
	_, err := t.playIn(ctx, at, slices.Concat([]string{"go", "test", "-exec=true"}, t.command[2:]), filepath.Join(t.logs, log))
	return err
}

func (t *tool) playIn(ctx context.Context, p *place, command []string, log string) (played, error) {
	file, err := os.Create(log)
	if err != nil {
		return played{}, err
	}
	defer file.Close()
	return playBelowWarden(ctx, p, command, file)
}
