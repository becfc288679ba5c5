package ledger

import (
	"encoding/json"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"time"

	"github.com/leakbench/leakbench/fakeserver/birth"
	"github.com/leakbench/leakbench/internal/bug"
	"github.com/leakbench/leakbench/internal/lines"
	"github.com/leakbench/leakbench/internal/observe/socket"
	"github.com/leakbench/leakbench/internal/record"
)

// maxComplaints is how many complaints a run reports: they all say the same.
const maxComplaints = 4

// hear serves those who can't reach the ledger's socket, where the system has addresses that belong to no folder.
func (l *Ledger) hear() {
	address := birth.Complaints(l.p.Run)
	if address == "" {
		return
	}
	listener, err := socket.Listen(address)
	if err != nil {
		return // another ledger of this run has it, in tests
	}
	l.complaints = listener
	l.wg.Go(func() {
		defer bug.Ends()
		told := map[string]bool{}
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			if text := l.complaint(conn); text != "" && len(told) < maxComplaints && !told[text] {
				told[text] = true
				l.doubt("", record.DoubtLedgerNoAccess, text)
			}
			conn.Close()
		}
	})
}

// complaint reads one and puts it into words; "" is nothing worth telling.
func (l *Ledger) complaint(conn *socket.Conn) string {
	_ = conn.SetReadDeadline(time.Now().Add(writeWait))
	line, err := lines.New(conn, birth.MaxLine).Next()
	if err != nil {
		return ""
	}
	var c birth.Complaint
	if json.Unmarshal(line, &c) != nil || c.Run != l.p.Run {
		return ""
	}
	if uid, err := socket.User(conn); err == nil {
		c.UID = uid
	}
	dir := filepath.Dir(l.Path())
	who := fmt.Sprintf("a server of %q", clip(c.Label))
	if c.Role != birth.RoleServer {
		who = fmt.Sprintf("a %s of %q", clip(c.Role), clip(c.Label))
	}
	if c.UID != os.Getuid() {
		return fmt.Sprintf("%s could not reach the ledger: it runs as user %s, and %s is for user %s alone (%s)",
			who, userName(c.UID), dir, userName(os.Getuid()), clip(c.Error))
	}
	if _, err := os.Stat(l.Path()); err == nil && c.Gone {
		return fmt.Sprintf(
			"%s could not reach the ledger: it does not see %s, since it has a %s of its own (a mount namespace, a container, PrivateTmp=); "+
				"set TMPDIR to a folder that both see",
			who, dir, filepath.Dir(dir))
	}
	return fmt.Sprintf("%s could not reach the ledger in %s: %s", who, dir, clip(c.Error))
}

// userName is a user as people know it, beside its number.
func userName(uid int) string {
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil && u.Username != "" {
		return fmt.Sprintf("%d (%s)", uid, clip(u.Username))
	}
	return strconv.Itoa(uid)
}
