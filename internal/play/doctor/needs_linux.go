package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const procAdvice = "mount -t proc proc /proc in this namespace (unshare --mount-proc)"

// fewProcessesLeft says which limit leaves too few processes and threads, or nil.
func fewProcessesLeft(least uint64) *Lack {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NPROC, &limit) == nil && limit.Cur < manyProcesses && !exempt() {
		if used := threadsOf(os.Getuid()); limit.Cur < used+least {
			return &Lack{
				needProcesses,
				fmt.Sprintf("this user may have %d processes and threads and has %d, and a run needs %d more", limit.Cur, used, least),
				"ulimit -u 8192",
			}
		}
	}
	for _, group := range groupsAbove() {
		most, limited := number(filepath.Join(group, "pids.max"))
		used, counted := number(filepath.Join(group, "pids.current"))
		if limited && counted && most < used+least {
			return &Lack{
				needProcesses,
				fmt.Sprintf("the cgroup %s may have %d processes and threads and has %d, and a run needs %d more", group, most, used, least),
				"raise its pids.max: docker run --pids-limit, TasksMax= of systemd",
			}
		}
	}
	return nil
}

// manyProcesses is a limit below which it is worth a look at all processes how much is left of it.
const manyProcesses = 8192

// exempt says that the limit of processes does not hold for this user: root of the first user namespace, and who may
// overrule limits there (fork in kernel/fork.c).
func exempt() bool {
	const rulesLimits = 1<<unix.CAP_SYS_RESOURCE | 1<<unix.CAP_SYS_ADMIN
	if strings.Join(strings.Fields(firstLine("/proc/self/uid_map")), " ") != "0 0 4294967295" {
		return false
	}
	may, err := strconv.ParseUint(statusOf("self", "CapEff:"), 16, 64)
	return os.Getuid() == 0 || err == nil && may&rulesLimits != 0
}

// threadsOf is how many threads a user has, as far as it may be seen.
func threadsOf(uid int) (n uint64) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil || statusOf(e.Name(), "Uid:") != strconv.Itoa(uid) {
			continue
		}
		threads, _ := strconv.ParseUint(statusOf(e.Name(), "Threads:"), 10, 32)
		n += max(1, threads)
	}
	return n
}

// statusOf is the first word of a line in the status of a process.
func statusOf(pid, line string) string {
	text, _ := os.ReadFile(filepath.Join("/proc", pid, "status"))
	_, rest, _ := strings.Cut(string(text), "\n"+line)
	rest, _, _ = strings.Cut(rest, "\n")
	words := append(strings.Fields(rest), "")
	return words[0]
}

// groupsAbove are the folders of the cgroups that limit this process, where they can be seen.
func groupsAbove() (all []string) {
	text, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) < 3 || parts[1] != "" && parts[1] != "pids" {
			continue
		}
		root := filepath.Join("/sys/fs/cgroup", parts[1])
		for group := filepath.Join(root, parts[2]); strings.HasPrefix(group, root); group = filepath.Dir(group) {
			all = append(all, group)
		}
	}
	return all
}

// number is what a file holds, where that is a number.
func number(path string) (uint64, bool) {
	n, err := strconv.ParseUint(firstLine(path), 10, 64)
	return n, err == nil
}
