//go:build linux

package main

import (
	"encoding/json"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

type object = map[string]any

// kept are the capabilities that Docker leaves to root in a container.
var kept = []string{
	"CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FSETID", "CAP_FOWNER", "CAP_MKNOD", "CAP_NET_RAW", "CAP_SETGID", "CAP_SETUID",
	"CAP_SETFCAP", "CAP_SETPCAP", "CAP_NET_BIND_SERVICE", "CAP_SYS_CHROOT", "CAP_KILL", "CAP_AUDIT_WRITE",
}

// bundle writes what runc needs for one command. The limits are Docker's defaults: no new user namespaces, cgroups to be read alone.
func (s setting) bundle(args []string) error {
	const root = "/run/bundle/root"
	for _, folder := range []string{"bin", "home/bench", "proc", "sys", "dev", "tmp"} {
		if err := os.MkdirAll(filepath.Join(root, folder), 0o755); err != nil {
			return err
		}
	}
	// runc gives the tmpfs the mode of the folder below it.
	if err := os.Chmod(filepath.Join(root, "tmp"), 0o777|os.ModeSticky); err != nil {
		return err
	}
	capabilities := []string{}
	if s.user == 0 {
		capabilities = kept
	}
	sets := object{"bounding": kept, "effective": capabilities, "permitted": capabilities}
	bind := func(path string) object {
		return object{"destination": path, "type": "bind", "source": path, "options": []string{"bind", "nosuid"}}
	}
	config := object{
		"ociVersion": "1.0.2",
		"root":       object{"path": "root"},
		"process": object{
			"user": object{"uid": s.user, "gid": s.user}, "args": args, "env": environment, "cwd": "/home/bench",
			"capabilities": sets, "noNewPrivileges": true,
		},
		"mounts": []object{
			{"destination": "/proc", "type": "proc", "source": "proc"},
			{"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": []string{"nosuid", "mode=755"}},
			{"destination": "/tmp", "type": "tmpfs", "source": "tmpfs", "options": []string{"nosuid", "mode=1777"}},
			{"destination": "/sys", "type": "sysfs", "source": "sysfs", "options": []string{"nosuid", "noexec", "ro"}},
			{"destination": "/sys/fs/cgroup", "type": "cgroup", "source": "cgroup", "options": []string{"nosuid", "noexec", "ro"}},
			bind("/bin"), bind("/home"),
		},
		"linux": object{
			"namespaces":    []object{{"type": "pid"}, {"type": "network"}, {"type": "ipc"}, {"type": "uts"}, {"type": "mount"}, {"type": "cgroup"}},
			"maskedPaths":   []string{"/proc/kcore", "/proc/keys", "/proc/timer_list", "/sys/firmware"},
			"readonlyPaths": []string{"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"},
			"seccomp":       filter(),
		},
	}
	text, err := json.Marshal(config)
	if err != nil {
		return err
	}
	return os.WriteFile("/run/bundle/config.json", text, 0o644)
}

// filter forbids what Docker's does of that which the bench would use.
func filter() object {
	const refuse = "SCMP_ACT_ERRNO"
	newSpace := object{"index": 0, "value": unix.CLONE_NEWUSER, "valueTwo": unix.CLONE_NEWUSER, "op": "SCMP_CMP_MASKED_EQ"}
	return object{
		"defaultAction": "SCMP_ACT_ALLOW", "architectures": []string{"SCMP_ARCH_X86_64"},
		"syscalls": []object{
			{"names": []string{"clone", "unshare"}, "action": refuse, "errnoRet": int(unix.EPERM), "args": []object{newSpace}},
			{"names": []string{"mount", "setns", "pivot_root", "bpf", "perf_event_open"}, "action": refuse, "errnoRet": int(unix.EPERM)},
			{"names": []string{"clone3"}, "action": refuse, "errnoRet": int(unix.ENOSYS)},
		},
	}
}
