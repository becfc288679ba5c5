//go:build !unix

package ledger

import "os"

func lockDir(string) (*os.File, bool) { return nil, false }

func isMine(os.FileInfo) bool { return false }
