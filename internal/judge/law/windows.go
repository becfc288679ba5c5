package law

import "github.com/leakbench/leakbench/internal/record"

// windowsLadder is how a server is ended where there are no signals.
const windowsLadder = "Close stdin, wait for a limited time on the process handle, " +
	"then end the server's Job Object (TerminateJobObject) and wait again."

// jobPerServer is how nothing that a server starts can leave it.
const jobPerServer = "Start each server suspended (CREATE_SUSPENDED), " +
	"assign it to a Job Object of its own with JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE, and resume it then. " +
	"What it starts before it is assigned, by the end of initialize for example, is not in the job. " +
	"Allow no breakaway: with JOB_OBJECT_LIMIT_SILENT_BREAKAWAY_OK, which libuv sets, nothing that a server starts is in the job. "

const ownHandles = "End only what you launched, through the handle that its launch returned or through its Job Object, " +
	"never by PID, image name (taskkill /IM) or command line. End only the server whose session has ended. " +
	"A job ends all that is in it: keep a server that several sessions use out of the job of any one of them."

const boundedOnWindows = "Limit every wait of the shutdown, and go on to the next step whatever the last one returned. " +
	windowsLadder + " "

const stdinFirstOnWindows = "Close stdin first and wait some seconds for the exit: " +
	"that is the only request to exit that a server can see. End its Job Object last. "

// onWindows is what to do about a kind on Windows, where the fix of other systems speaks of what Windows does not have.
var onWindows = map[string]string{
	"superseded": "End the old server before, or right after, the new one takes its place, on every path that replaces a connection: " +
		"reconnect, reload, lazy respawn, health check. Treat stdout EOF as the end of the session, not of the process. " + windowsLadder,
	"not-escalated": windowsLadder +
		" taskkill /T after the launched process has exited finds no tree any more: the parent is gone. A job does not need one.",
	"pipe-blocked": "Drain stdout and stderr for as long as the process lives, even while no session uses it, or send stderr to a file or " +
		"to NUL. When the connection ends, close the read ends too. Never hold a lock during a write to a pipe. " + windowsLadder,
	"eof-withheld": "Every launch with bInheritHandles inherits all inheritable handles, also those that another thread has just made. Name " +
		"what a launch inherits (PROC_THREAD_ATTRIBUTE_HANDLE_LIST), or launch under a lock. Do not rely on stdin EOF alone. " + windowsLadder,
	"stopped": "A suspended process can be ended: TerminateJobObject, or TerminateProcess, works in any state. " + windowsLadder,
	"watchdog-blind": "The host can't rely on it: put each server into a Job Object with JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE. " +
		"In the server: open a handle of the parent at the start and wait on it. A parent's PID stays what it was when the parent has ended, " +
		"and may be another process's by then.",
	"resource-held": "End the old server before you launch the next one, and wait on its handle: until then it holds its lock, " +
		"its port and its database. After a failed connect, end what was launched at once and not in a later sweep. " +
		"End the job, so that whoever holds the resource goes with its launcher.",
	"launcher": "End what you launched, and wait for it through its handle. " + jobPerServer +
		"The exit of the server does not mean that its launcher exited.",
	"deaf": "Escalate before the host exits. " + windowsLadder +
		" Do not do it in a timer or a background task, which end with the process. A host that is terminated runs none of its code: " +
		"a job that ends with the host's last handle of it (JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE) is all that helps then.",
	"orphan": "Do not rely on stdin EOF alone. " + windowsLadder,
	"spinner": "The loop is the server's bug, its survival is the host's: end the server's Job Object before the host exits. " +
		"In the server: a read of 0 bytes, or ERROR_BROKEN_PIPE, ends the session; leave the loop and exit.",
	"shielded": jobPerServer +
		"TerminateProcess ends the process that was launched and nothing below it: cmd.exe, of a .cmd file or of npx, and not the server. " +
		"Where you can, launch the server itself.",
	"escaped": "A process that detaches stays in the job of whoever started it. " + jobPerServer,
	"helper": "TerminateProcess ends one process and not what it has started. " + jobPerServer +
		"Treat what the host starts for itself (watchdogs, probes, shells) the same way. " +
		"A conhost.exe that is left shows that the process whose console it was has been ended from outside, or lives.",
	"killed": ownHandles, "terminated": ownHandles,
	"twin":     ownHandles + " To clean up after an earlier run of the host, keep PID and creation time of each launch in a file.",
	"recycled": ownHandles + " A PID is free as soon as the last handle of its process is closed.",
	"slow-close": boundedOnWindows +
		"Wait on the handle of the process, not for a fixed time, so that a server which exits at once costs nothing.",
	"hung-close": boundedOnWindows +
		"Do not wait for stdout EOF (a helper may hold it open), for calls in flight, or for a lock that a write to a full pipe holds.",
	"hung-call": boundedOnWindows +
		"Let the timeout end the write as well (CancelIoEx, or close the handle), and treat a session whose server does not read as broken.",
	"hung-command": boundedOnWindows +
		"End the servers before the command ends. Exit when that is done or its time is up, whatever is still in flight.",
	"slow-stop": boundedOnWindows + "End all servers in parallel, with one deadline for all of them.",
	"hung-stop": boundedOnWindows +
		"Exit when the time for the stop is over, whatever is still in flight: the jobs end with the host's last handles of them.",
	"killed-unasked": stdinFirstOnWindows +
		"Keep JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE for the case that the host is killed: end the servers before the host exits by itself.",
	"cleanup-cut-short": stdinFirstOnWindows +
		"Wait for the exit, not for a fixed time: servers that exit at once then cost nothing. Let all of them clean up in parallel.",
	"host-crashed": "Find the panic or the exit status in the host's log. An error of one server must not end the program: " +
		"handle ERROR_BROKEN_PIPE and ERROR_NO_DATA where you write to its pipe, and end the session instead.",
}

// FixOn is what to do about the cause on a system.
func (c Cause) FixOn(os string) string {
	if os == record.Windows && c.Alone {
		return "A killed host can't clean up, so arrange the end of its servers beforehand. " + jobPerServer +
			"The host must have the only handle of each job. " +
			"At the next start, end what a file of earlier launches (PID and creation time) still names."
	}
	return c.Fix
}

// FixOn is what to do about the kind on a system: "windows", or another one.
func (k *Kind) FixOn(os string) string {
	if fix := onWindows[k.ID]; os == record.Windows && fix != "" {
		return fix
	}
	return k.Fix
}

// LadderOn is the order in which a server is ended on a system.
func LadderOn(os string) string {
	if os == record.Windows {
		return "stdin EOF, a wait, then the end of its job"
	}
	return "stdin EOF, a wait, SIGTERM, a wait, then SIGKILL"
}
