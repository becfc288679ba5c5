package proc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/leakbench/leakbench/internal/record"
)

const (
	showPeer     = 4  // UDIAG_SHOW_PEER of linux/unix_diag.h
	attrPeer     = 2  // UNIX_DIAG_PEER
	requestSize  = 24 // struct unix_diag_req
	messageSize  = 16 // struct unix_diag_msg
	diagDeadline = 2 * time.Second
)

// socketInode reads "socket:[123]".
func socketInode(target string) (uint32, bool) {
	text, ok := strings.CutPrefix(target, "socket:[")
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(strings.TrimSuffix(text, "]"), 10, 32)
	return uint32(n), err == nil
}

func isSocket(d record.Descriptor) bool { return strings.HasPrefix(d.Target, "socket:") }

// socketPeers returns the inode of the peer of each unix socket that the kernel
// knows in this network namespace, 0 for one without a peer.
func socketPeers() (map[uint32]uint32, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return nil, fmt.Errorf("failed to open sock_diag: %w", err)
	}
	defer unix.Close(fd)
	limit := unix.NsecToTimeval(diagDeadline.Nanoseconds())
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &limit); err != nil {
		return nil, err
	}
	if err := unix.Sendto(fd, dumpRequest(), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return nil, fmt.Errorf("failed to ask sock_diag: %w", err)
	}
	peers := map[uint32]uint32{}
	buf := make([]byte, 64<<10)
	for {
		n, _, err := unix.Recvfrom(fd, buf, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return peers, fmt.Errorf("sock_diag did not answer: %w", err)
		}
		done, err := readDump(buf[:n], peers)
		if done || err != nil {
			return peers, err
		}
	}
}

// dumpRequest asks for every unix socket in any state, with its peer.
func dumpRequest() []byte {
	b := make([]byte, unix.NLMSG_HDRLEN+requestSize)
	order := binary.NativeEndian
	order.PutUint32(b[0:], uint32(len(b)))
	order.PutUint16(b[4:], unix.SOCK_DIAG_BY_FAMILY)
	order.PutUint16(b[6:], unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	b[16] = unix.AF_UNIX
	order.PutUint32(b[20:], ^uint32(0)) // states
	order.PutUint32(b[28:], showPeer)
	return b
}

// readDump reads one datagram of answers. It reports whether it was the last.
func readDump(b []byte, peers map[uint32]uint32) (bool, error) {
	messages, err := syscall.ParseNetlinkMessage(b)
	if err != nil {
		return true, fmt.Errorf("sock_diag: %w", err)
	}
	order := binary.NativeEndian
	for _, m := range messages {
		switch {
		case m.Header.Type == unix.NLMSG_DONE:
			return true, nil
		case m.Header.Type == unix.NLMSG_ERROR && len(m.Data) >= 4:
			return true, fmt.Errorf("sock_diag: %w", unix.Errno(-int32(order.Uint32(m.Data))))
		case m.Header.Type == unix.SOCK_DIAG_BY_FAMILY && len(m.Data) >= messageSize:
			peers[order.Uint32(m.Data[4:])] = peerOf(m.Data[messageSize:])
		}
	}
	return false, nil
}

func peerOf(attributes []byte) uint32 {
	order := binary.NativeEndian
	for len(attributes) >= 8 {
		size, kind := int(order.Uint16(attributes)), order.Uint16(attributes[2:])
		if kind == attrPeer {
			return order.Uint32(attributes[4:])
		}
		if size < 4 {
			break
		}
		attributes = attributes[min(len(attributes), (size+3)&^3):] // aligned to 4
	}
	return 0
}

// TrySockDiag says why the other end of a socketpair can't be found: it asks for the peer of a socket of our own.
func TrySockDiag() error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(pair[0])
	defer unix.Close(pair[1])
	var s [2]unix.Stat_t
	for i := range pair {
		if err := unix.Fstat(pair[i], &s[i]); err != nil {
			return err
		}
	}
	peers, err := socketPeers()
	if err == nil && peers[uint32(s[0].Ino)] != uint32(s[1].Ino) {
		err = errors.New("it does not know a pair made just now")
	}
	return err
}
