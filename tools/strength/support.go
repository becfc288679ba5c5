package main

// support is what the mutants need in their package: a flag says which of them is played, and tells which were reached without one.
const support = `
import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"sync"
)

var (
	strengthPlayed, _ = strconv.Atoi(os.Getenv("STRENGTH"))
	strengthReached   sync.Map
)

type strengthFlag struct{}

func init() { flag.Var(strengthFlag{}, "strength", "") }

func (strengthFlag) Set(text string) (err error) {
	strengthReached.Clear()
	strengthPlayed, err = strconv.Atoi(text)
	return err
}

func (strengthFlag) String() (text string) {
	strengthReached.Range(func(i, _ any) bool { text += fmt.Sprint(" ", i); return true })
	return text
}

func strengthPlays(i int) bool {
	if strengthPlayed < 0 {
		strengthReached.LoadOrStore(i, true)
	}
	return i == strengthPlayed
}

func strengthZero[T any](p *T) { *p = *new(T) }

func strengthNumber[T ~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64](
	played bool, other, op rune, a, b T,
) T {
	if played {
		op = other
	}
	switch op {
	case '+':
		return a + b
	case '-':
		return a - b
	case '*':
		return a * b
	}
	return a / b
}
`

// testMain is the main function beside the tests: of each line of its plan it plays the tests one by one, until one notices the mutant.
const testMain = `
import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	flag.Parse()
	out := os.NewFile(3, "out")
	fails := func(mutant, test string) bool {
		flag.Set("strength", mutant)
		flag.Set("test.run", "^"+test+"$")
		return m.Run() != 0
	}
	plan := bufio.NewScanner(os.Stdin)
	plan.Buffer(nil, 1<<20)
	switch os.Getenv("STRENGTH_MODE") {
	case "":
		os.Exit(m.Run())
	case "reach":
		for plan.Scan() {
			began := time.Now()
			if fails("-1", plan.Text()) {
				os.Exit(1)
			}
			fmt.Fprintln(out, plan.Text(), time.Since(began), flag.Lookup("strength").Value)
		}
	case "mutants":
		for plan.Scan() {
			mutant, tests, _ := strings.Cut(plan.Text(), " ")
			result := "unnoticed"
			for _, test := range strings.Fields(tests) {
				if fails(mutant, test) {
					result = "noticed"
					if fails("-1", test) {
						result = test + " unsure"
					}
					break
				}
			}
			fmt.Fprintln(out, mutant, result)
		}
	}
	os.Exit(0)
}
`
