//go:build !darwin && !windows

package portable

import (
	"time"

	"github.com/shirou/gopsutil/v3/process"

	"github.com/leakbench/leakbench/internal/record"
)

func list() ([]basic, error) {
	pids, err := process.Pids()
	if err != nil {
		return nil, err
	}
	var rows []basic
	for _, pid := range pids {
		if row, err := look(int(pid)); err == nil {
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// look reads the row of one process. ErrGone: there is none. Start is in milliseconds since 1970.
func look(pid int) (basic, error) {
	p := handle(pid)
	created, err := p.CreateTime()
	if err != nil {
		if there, e := process.PidExists(int32(pid)); e == nil && !there {
			err = ErrGone
		}
		return basic{}, err
	}
	b := basic{Identity: record.Identity{PID: pid, Start: uint64(created)}, state: state(p)}
	if ppid, err := p.Ppid(); err == nil {
		b.ppid = int(ppid)
	}
	if name, err := p.Name(); err == nil {
		b.comm = name
	}
	return b, nil
}

func started(id record.Identity) time.Time { return time.UnixMilli(int64(id.Start)) }
