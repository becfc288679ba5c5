//go:build unix

package install_test

const python = "python3"
