package refhost

import (
	"context"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/shirou/gopsutil/v3/process"
	"golang.org/x/sys/windows"
)

// endOrphans does what is done in the field: it closes each connection, which ends the process that was launched, and has taskkill end
// the tree below it then. There is no root any more from which to find that.
func endOrphans(why string, victims []*connection) {
	inParallel(victims, (*connection).close)
	var pids []int
	for _, c := range victims {
		for _, p := range c.learned {
			pids = append(pids, p.pid)
		}
	}
	taskkill(why, pids, "/T")
}

// endAll ends every process with the image of those of a ledger, as taskkill /IM node.exe does. The image of fake servers is that of the
// bench and of the host, too, which may be anybody's: those alone are meant that have the run's token on their command lines.
func endAll(why string, all []child) {
	taskkill(why, sameImage(tokens(all)))
}

// tokens are the values of --run on the command lines of processes.
func tokens(all []child) map[string]bool {
	found := map[string]bool{}
	for _, c := range all {
		if p, err := process.NewProcess(int32(c.pid)); err == nil {
			found[token(p)] = true
		}
	}
	delete(found, "")
	return found
}

// token is the run of which a process says on its command line that it is one's.
func token(p *process.Process) string {
	words, err := p.CmdlineSlice()
	if err != nil {
		return ""
	}
	if i := slices.Index(words, "--run"); i >= 0 && i+1 < len(words) {
		return words[i+1]
	}
	return ""
}

// sameImage are the processes of this program that have one of the tokens.
func sameImage(tokens map[string]bool) []int {
	self, err := os.Executable()
	if err != nil || len(tokens) == 0 {
		return nil
	}
	var pids []int
	for _, e := range processes() {
		if windows.UTF16ToString(e.ExeFile[:]) != filepath.Base(self) {
			continue
		}
		if p, err := process.NewProcess(int32(e.ProcessID)); err == nil && tokens[token(p)] {
			pids = append(pids, int(e.ProcessID))
		}
	}
	return pids
}

// killerTime is how long taskkill may take.
const killerTime = 10 * time.Second

func taskkill(why string, pids []int, how ...string) {
	if len(pids) == 0 {
		return
	}
	args := append([]string{"/F"}, how...)
	for _, pid := range pids {
		args = append(args, "/PID", strconv.Itoa(pid))
	}
	dir, err := windows.GetSystemDirectory()
	if err != nil {
		log.Printf("%s: %v", why, err)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), killerTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(dir, "taskkill.exe"), args...)
	cmd.WaitDelay = time.Second
	said, err := cmd.CombinedOutput()
	log.Printf("%s: taskkill %v: %v %s", why, args, err, said)
}
