package fakeserver_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"

	"github.com/leakbench/leakbench/internal/observe/ledger"
	"github.com/leakbench/leakbench/internal/record"
)

// holdLedger is a bench to be killed: it opens a ledger in the folder of its
// first argument with the script of its second, says on stdout what happens, and
// stays until the end of stdin.
func holdLedger() {
	dir, script := os.Args[2], os.Args[3]
	l, err := ledger.Listen(ledger.Params{
		Dir: dir, Run: "run-1", Scripts: map[string]json.RawMessage{"s": json.RawMessage(script)},
		Identify: identify, WaitGone: waitGone,
		OnEvent: func(e record.Event) {
			fmt.Println(string(e.Kind) + " " + e.Server)
		},
	})
	if err != nil {
		fmt.Println("error " + strconv.Quote(err.Error()))
		os.Exit(1)
	}
	fmt.Println("listening " + l.Path())
	_, _ = os.Stdin.Read(make([]byte, 1))
	_ = l.Close()
}
