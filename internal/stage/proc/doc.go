// Package proc knows processes: their identity, what runs below a process,
// what one is blocked in, and how to signal one without hitting another that
// got its pid.
//
// On Linux it reads /proc itself. Elsewhere it reads through gopsutil (package
// portable), sees less, and says so in Weak.
package proc
