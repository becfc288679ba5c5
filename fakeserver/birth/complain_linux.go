package birth

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// complainWait is how long a server that can't reach the ledger takes to say so.
const complainWait = time.Second

// Complaints is the address at which a server says that it can't reach the socket of the run's ledger. It is in no
// folder: who runs as another user, or sees another /tmp, finds it all the same.
func Complaints(run string) string { return "@leakbench-" + run }

// complain tells the ledger of a run why its socket can't be reached. The kernel adds whose process it is.
func complain(c Certificate, path string, err error) {
	if !errors.Is(err, syscall.EACCES) && !errors.Is(err, syscall.EPERM) && !errors.Is(err, syscall.ENOENT) {
		return // the ledger is closed, which is no news
	}
	conn, failed := connect(Complaints(c.Run))
	if failed != nil {
		return
	}
	defer conn.Close()
	said := Complaint{Certificate: c, UID: os.Getuid(), Path: path, Gone: errors.Is(err, syscall.ENOENT), Error: err.Error()}
	if line, failed := EncodeLine(said); failed == nil {
		if _, failed = conn.Write(line); failed == nil {
			// The kernel's word on who complains needs a process that lives.
			_ = conn.SetReadDeadline(time.Now().Add(complainWait))
			_, _ = conn.Read(make([]byte, 1))
		}
	}
}
