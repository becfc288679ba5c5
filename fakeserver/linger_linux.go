package fakeserver

import "syscall"

// nap sleeps in the kernel. time.Sleep would leave the thread to the runtime,
// which has it wait in a futex like any other that has nothing to do.
func nap() {
	_ = syscall.Nanosleep(&syscall.Timespec{Sec: 1}, nil)
}

// awaitConnection waits in an event loop for a connection that never comes: a
// free port of the loopback. It returns only where there is no such socket.
func awaitConnection() {
	listener, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return
	}
	if syscall.Bind(listener, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}) != nil || syscall.Listen(listener, 1) != nil {
		return
	}
	loop, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return
	}
	event := syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(listener)}
	if syscall.EpollCtl(loop, syscall.EPOLL_CTL_ADD, listener, &event) != nil {
		return
	}
	for {
		if n, err := syscall.EpollWait(loop, make([]syscall.EpollEvent, 1), -1); n > 0 && err == nil {
			accepted(listener)
		}
	}
}

// accepted takes a visitor in and shows him out.
func accepted(listener int) {
	if fd, _, err := syscall.Accept4(listener, syscall.SOCK_CLOEXEC); err == nil {
		_ = syscall.Close(fd)
	}
}
