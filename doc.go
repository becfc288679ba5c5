// Package leakbench is the root of a crash-test lab for programs that launch MCP servers over stdio. The program is
// cmd/leakbench; ARCHITECTURE.md shows the house.
package leakbench
