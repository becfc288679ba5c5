package main

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// group is a part of the long tier: the tests that name it by internal/tier, or commands, or both.
type group struct {
	name  string
	about string
	needs []need
	// prepare are commands that install or build; they may run beside other groups.
	prepare []string
	// tests says that the group has tests, which name it in their source.
	tests bool
	// packages are those whose tests it plays, by the names that bash makes of this, with these flags of go test; and plays are the groups
	// whose tests are played there, if not those of this one.
	packages, flags, plays string
	// steps are commands that must succeed.
	steps []string
	env   []string
	// timed says that it measures time or starts hundreds of processes, and has the machine to itself.
	timed bool
	// lacks says what this machine can't have, and check can't install: then the group is not played. "" is nothing.
	lacks func(root string) string
	// lackedBy is the machine on which that is no error, even where everything is required.
	lackedBy string
	// nightly says that the group takes too long to be played with the others: --only names it.
	nightly bool
}

// need is a program, with the Debian package that has it.
type need struct {
	name string // as people know it
	try  string // a command that succeeds where it is there
	apt  string // packages, separated by spaces
}

var (
	bashAndCurl = []need{{"curl", "command -v curl", "curl"}, {"jq", "command -v jq", "jq"}, python}
	python      = need{"Python 3 with venv", "python3 -c 'import ensurepip'", "python3 python3-venv"}
	node        = need{"Node.js with npm", "command -v npm && command -v node", "nodejs npm"}
	rust        = need{"Rust with cargo", "command -v cargo", "cargo"}
	debootstrap = need{"debootstrap", "command -v debootstrap || command -v /usr/sbin/debootstrap", "debootstrap"}
	strace      = need{"strace", "command -v strace", "strace"}
	chromium    = need{"Chromium", "command -v chromium || command -v chromium-browser || command -v google-chrome", "chromium"}
)

// first is the first tier, for those who play both by one command.
var first = group{name: "first", about: "go test ./...", timed: true, steps: []string{"go test -count=1 ./..."}}

// groups is the long tier. Commands run by bash in the root of the module; $LEAKBENCH is the program, built once.
var groups = []group{
	{
		name: "lint", about: "gofumpt, go vet for Linux, macOS and Windows, golangci-lint, actionlint, bash -n",
		steps: []string{
			`unformatted=$(go run mvdan.cc/gofumpt@v0.12.0 -l .); [ -z "$unformatted" ] || { echo "not gofumpt'd: $unformatted"; exit 1; }`,
			"go mod tidy -diff",
			"go vet ./...",
			"GOOS=darwin GOARCH=arm64 go vet ./...",
			"GOOS=darwin GOARCH=amd64 go vet ./...",
			"GOOS=windows go vet ./...",
			"go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0 run ./...",
			"go run github.com/rhysd/actionlint/cmd/actionlint@v1.7.12",
			"for script in action/*.sh .ci/packages .ci/run .ci/wine; do bash -n $script; done; sh -n install.sh",
		},
	},
	{
		name: "demo", about: "the two commands of the README: clean, and a leak",
		steps: []string{
			`"$LEAKBENCH" run storm --out "$WORK/runs"`,
			`status=0; "$LEAKBENCH" run storm --host naive --out "$WORK/runs" || status=$?; [ $status = 1 ]`,
		},
	},
	{
		name: "packages", about: "the wheel and the npm packages, used in a clean environment and a clean project",
		needs: []need{python, node},
		steps: []string{`LEAKBENCH_BINARY="$LEAKBENCH" .ci/packages`},
	},
	{
		name: "recipes", about: "the recipes of CONTRIBUTING, with each step left out in turn", tests: true,
		env: []string{"LEAKBENCH_RECIPES=1"},
	},
	{
		name: "release", about: "a release for this platform, made twice; its archive, wheel and npm package, used without Go", tests: true,
		needs: []need{python, node, bashAndCurl[0]},
	},
	{name: "matrix", about: "each reference host in each scenario", tests: true, timed: true},
	{name: "tricks", about: "hosts that once fooled the bench, and benches that are disturbed", tests: true, timed: true},
	{
		name: "blackbox", about: "gateways, agents and clients in Go, Python and Node", tests: true, timed: true,
		needs: []need{python, node},
	},
	{
		name: "published", about: "published clients and gateways, from their lock files", tests: true, timed: true,
		needs: []need{python, node, rust}, prepare: []string{`"$LEAKBENCH" hosts install all`},
	},
	{name: "servers", about: "servers in Python and Node with planted faults", tests: true, timed: true, needs: []need{python, node}},
	{
		name: "explore", about: "generated scenarios on a host that breaks no law", tests: true, timed: true,
		steps: []string{`"$LEAKBENCH" explore --host exact --runs 300 --seed 2 --out "$WORK/explored"`},
	},
	{
		name: "scripts", about: "the longer command lines, what CI systems run, and benches that are killed", tests: true, timed: true,
		needs: bashAndCurl,
	},
	{
		name: "slow", about: "single packages, what takes long: live hosts, generated scenarios, other modules", tests: true,
		timed: true, needs: []need{strace},
	},
	{name: "browser", about: "the pages in Chromium", tests: true, timed: true, needs: []need{chromium}},
	{
		// acceptance plays whole runs, of processes that other packages cover, test/structure compiles copies of the source, and
		// tools/release builds what another group installs. Packages mostly wait: four at a time keep two processors busy.
		name: "race", about: "the first tier but three packages under the race detector", timed: true,
		flags: "-race -p 4", packages: allButThree,
	},
	{
		name: "wine", about: "the tests for Windows, under Wine 10 in a Debian of its own", timed: true,
		needs: []need{python, node, debootstrap}, prepare: []string{".ci/wine make"}, steps: []string{".ci/wine test"},
		lacks: needsWine, lackedBy: "a machine without root, or without a Debian mirror",
	},
	{
		name: "kernels", about: "kernels of four ages in qemu: up to two hours", timed: true,
		steps: []string{`go run ./tools/kernels -keep "$WORK/machines"`},
		lacks: needsQEMU, lackedBy: "a machine without qemu-system-x86_64 and /dev/kvm",
	},
	{
		name: "race-all", about: "both tiers but three packages under the race detector: 20 minutes", timed: true, nightly: true,
		needs: append([]need{node, chromium, strace}, bashAndCurl...), flags: "-race -p 4", packages: allButThree, plays: "all",
	},
	{
		name: "fuzz", about: "each fuzz target for $FUZZTIME (2m), two at a time: a quarter of an hour", timed: true, nightly: true,
		steps: []string{fuzzAll},
	},
}

// allButThree are the packages that the race detector plays.
const allButThree = "$(go list ./... | grep -Ev '(acceptance|test/structure|tools/release)$')"

// fuzzAll plays each target that there is, with one worker: its exit code says whether one of them failed.
const fuzzAll = `git grep -n '^func Fuzz' -- '*_test.go' | sed -E 's|/[^/]*:[0-9]+:func (Fuzz[A-Za-z0-9]*).*| \1|' |
	xargs -P 2 -L 1 bash -c 'go test "./$0" -run "^$" -fuzz "^$1\$" -fuzztime "${FUZZTIME:-2m}" -fuzzminimizetime 10x -parallel 1'`

// needsWine asks the script that makes the environment.
func needsWine(root string) string {
	if runtime.GOOS != "linux" {
		return "this is no Linux"
	}
	cmd := exec.Command(filepath.Join(root, ".ci", "wine"), "can")
	cmd.WaitDelay = time.Second
	said, err := cmd.CombinedOutput()
	if err != nil {
		return cmp.Or(strings.TrimSpace(string(said)), err.Error())
	}
	return ""
}

// needsQEMU also asks for KVM: without it, a kernel takes minutes to boot, and all of them take most of a day.
func needsQEMU(string) string {
	if _, err := exec.LookPath("qemu-system-x86_64"); err != nil {
		return "qemu-system-x86_64 is not installed"
	}
	f, err := os.OpenFile("/dev/kvm", os.O_RDWR, 0)
	if err != nil {
		return "there is no KVM: " + err.Error()
	}
	f.Close()
	return ""
}
