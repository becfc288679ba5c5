//go:build linux

package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A setting is what a user of the bench finds on a machine, and what has to come of it there.
type setting struct {
	name      string
	user      int
	yama      string   // kernel.yama.ptrace_scope; 3 can't be taken back, so it comes last
	hidepid   string   // of /proc
	noSpaces  bool     // user.max_user_namespaces=0
	container bool     // runc, with what Docker takes away: capabilities, user namespaces, writing to cgroups
	since     version  // the first kernel it is played on
	lacks     []string // at every kernel
	older     []string // besides, at a kernel older than 5.14, which has no cgroup.kill
}

type version struct{ major, minor int }

func (v version) before(w version) bool {
	return v.major < w.major || v.major == w.major && v.minor < w.minor
}

var cgroupKill = version{5, 14}

// runcWorks: at 5.10 the runc of Debian 12 can't copy itself out of an initramfs.
var runcWorks = version{6, 1}

const plainUser = 1000

// settings are played in this order. What is in lacks is what `leakbench doctor` has to call weaker or missing, and nothing else, apart
// from the programs of hosts (python3 and so on), of which the machine has none.
var settings = []setting{
	{name: "root", older: []string{"cgroup"}},
	{name: "user", user: plainUser, lacks: []string{"cgroup", "others"}},
	{
		name: "user, no user namespaces", user: plainUser, noSpaces: true,
		lacks: []string{"cgroup", "others", "user-namespace", "pid-namespace", "ns-last-pid"},
	},
	{name: "user, hidepid=1", user: plainUser, hidepid: "1", lacks: []string{"cgroup", "proc"}},
	{name: "user, hidepid=2", user: plainUser, hidepid: "2", lacks: []string{"cgroup", "proc"}},
	{name: "container, root", container: true, since: runcWorks, lacks: []string{"cgroup", "user-namespace", "pid-namespace", "ns-last-pid"}},
	{
		name: "container, user", user: plainUser, container: true, since: runcWorks,
		lacks: []string{"cgroup", "user-namespace", "pid-namespace", "ns-last-pid"},
	},
	{name: "user, ptrace_scope=1", user: plainUser, yama: "1", lacks: []string{"cgroup", "others"}},
	{name: "user, ptrace_scope=2", user: plainUser, yama: "2", lacks: []string{"cgroup", "others", "evidence"}},
	{name: "user, ptrace_scope=3", user: plainUser, yama: "3", lacks: []string{"cgroup", "others", "evidence"}},
}

// A host is played in each setting; the rest is what has to come of it.
type host struct {
	name, outcome string
	code          int
	findings      []string
}

var hosts = []host{
	{name: "exact", outcome: "clean"},
	{
		name: "naive", outcome: "leak", code: 1,
		findings: []string{"L1 init-stranded x1", "L1 superseded x1", "L1 superseded x10", "L4 zombie x10"},
	},
}

func chosen(only *regexp.Regexp, kernel version) []setting {
	return slices.DeleteFunc(slices.Clone(settings), func(s setting) bool { return !only.MatchString(s.name) || kernel.before(s.since) })
}

// lacking is what the doctor has to miss at a kernel.
func (s setting) lacking(kernel version) []string {
	names := slices.Clone(s.lacks)
	if kernel.before(cgroupKill) {
		names = append(names, s.older...)
	}
	slices.Sort(names)
	return names
}

// versionOf reads the release of a kernel, such as "6.1.0-50-cloud-amd64".
func versionOf(release string) (v version) {
	_, _ = fmt.Sscanf(release, "%d.%d", &v.major, &v.minor)
	return v
}

// folder is the name of a setting as that of a folder.
func (s setting) folder() string {
	return strings.NewReplacer(", ", "-", " ", "-", "=", "-").Replace(s.name)
}
