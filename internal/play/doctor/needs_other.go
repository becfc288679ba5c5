//go:build !linux

package doctor

const procAdvice = ""

// fewProcessesLeft is for systems that tell how many processes a user has.
func fewProcessesLeft(uint64) *Lack { return nil }
