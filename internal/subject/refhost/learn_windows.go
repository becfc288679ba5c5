package refhost

import (
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// childrenOfMainThread is empty: there are no such files on this system.
func childrenOfMainThread() []child { return nil }

// childrenOfAllThreads looks through all processes, once, for those whose parent this is.
func childrenOfAllThreads() (all []child) {
	for _, p := range processes() {
		if int(p.ParentProcessID) != os.Getpid() {
			continue
		}
		if start, lives := createdAt(int(p.ProcessID)); lives {
			all = append(all, child{int(p.ProcessID), start})
		}
	}
	return all
}

// processes are all that run.
func processes() (all []windows.ProcessEntry32) {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return nil
	}
	defer func() { _ = windows.CloseHandle(snapshot) }()
	p := windows.ProcessEntry32{Size: uint32(unsafe.Sizeof(windows.ProcessEntry32{}))}
	for err = windows.Process32First(snapshot, &p); err == nil; err = windows.Process32Next(snapshot, &p) {
		all = append(all, p)
	}
	return all
}

// createdAt is when the process was created that has a pid now, and whether it lives still.
func createdAt(pid int) (start uint64, lives bool) {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION|windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return 0, false
	}
	defer func() { _ = windows.CloseHandle(h) }()
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(h, &created, &exited, &kernel, &user); err != nil {
		return 0, false
	}
	ended, err := windows.WaitForSingleObject(h, 0)
	return uint64(created.HighDateTime)<<32 | uint64(created.LowDateTime), err == nil && ended != windows.WAIT_OBJECT_0
}

// alive reports whether c has not exited.
func (c child) alive() bool {
	start, lives := createdAt(c.pid)
	return lives && start == c.start
}

func onMainThread() bool { return false }
