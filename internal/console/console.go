// Package console asks a process to end on Windows, as Ctrl-C at its terminal does. Windows has no SIGTERM: this is the only request to
// exit that a program without windows can get from another one. NSSM and WinSW stop a service in the same way.
package console

import "errors"

// Arg is the first argument of the process that asks.
const Arg = "ctrl-c"

// ErrNone says that a process can't be asked, since it has no console.
var ErrNone = errors.New("it has no console, so CTRL_C can't reach it")
