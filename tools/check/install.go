package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// install installs what groups need and this machine lacks, by apt, all at once. What is still missing then is said by the groups that
// need it: they fail.
func (b *bench) install(ctx context.Context, chosen []group) {
	var packages, names []string
	for _, g := range chosen {
		for _, n := range g.needs {
			if !slices.Contains(names, n.name) && !n.there(ctx) {
				names = append(names, n.name)
				packages = append(packages, n.apt)
			}
		}
	}
	if len(names) == 0 {
		return
	}
	apt := "apt-get update -qq && apt-get install -y -qq " + strings.Join(packages, " ")
	if _, err := exec.LookPath("apt-get"); err != nil || os.Getuid() != 0 {
		b.say("missing: %s. On Debian, as root: %s", strings.Join(names, ", "), apt)
		return
	}
	b.say("installing %s", strings.Join(names, ", "))
	log, err := os.Create(filepath.Join(b.work, "apt.log"))
	if err == nil {
		err = b.command(ctx, log, []string{"DEBIAN_FRONTEND=noninteractive"}, apt)
		log.Close()
	}
	if err != nil {
		said, _ := os.ReadFile(filepath.Join(b.work, "apt.log"))
		b.say("failed to install %s: %v\n%s", strings.Join(packages, " "), err, said)
	}
}

// there says whether a program is there.
func (n need) there(ctx context.Context) bool {
	return exec.CommandContext(ctx, "bash", "-c", n.try).Run() == nil
}

// missing are the programs that a group still lacks.
func (g group) missing(ctx context.Context) (names []string) {
	for _, n := range g.needs {
		if !n.there(ctx) {
			names = append(names, n.name)
		}
	}
	return names
}
