// Package hostfile reads host files: a host that can be put on the bench, as
// YAML. docs/host-file.md is the same for people who write one.
package hostfile
