// Command lone is the fake server in a binary of its own: the yardstick for what the full binary costs it.
package main

import _ "github.com/leakbench/leakbench/fakeserver"

// The package serves and exits in its init.
func main() {}
