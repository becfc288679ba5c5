package keeper

import "os"

func (k *process) spawn(string, []string, *os.ProcAttr) (*os.Process, error) { return nil, errNoFDs }

func (k *process) reapForEver() {}
