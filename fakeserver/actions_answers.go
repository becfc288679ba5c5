package fakeserver

import (
	"os"
	"time"
)

// answerActions spoil an answer, or end or change the server as a whole.
var answerActions = []action{
	{
		name: "reject", text: "answers with a JSON-RPC error and stays alive",
		on:      []string{onDiscover, onInitialize, onList, onListResources, onListPrompts, onCall, onPing},
		decides: true, breaks: whereHostsGiveUp,
		commit: func(s *server, _ Fault, r *request) {
			s.refuse(r, codeInternal, "rejected by the script", nil)
		},
	},
	{
		name: "hang", text: "never answers this request, but answers others, ping included; on order: no longer answers anything",
		on:      []string{onDiscover, onInitialize, onList, onListResources, onListPrompts, onCall, onPing, onOrder},
		decides: true, breaks: always,
		commit: func(s *server, f Fault, _ *request) {
			if f.On == onOrder {
				s.out.mute()
			}
		},
	},
	{
		name: "garbage", text: "writes a line that is not JSON instead of the answer; on order: unsolicited",
		on:      []string{onDiscover, onInitialize, onList, onCall, onPing, onOrder},
		decides: true, breaks: always, // as with a banner: a host may close a connection on which something else comes than messages
		commit: func(s *server, _ Fault, _ *request) {
			s.say([]byte("Traceback (most recent call last): this is no JSON-RPC {]\n"))
		},
	},
	{
		name: "wrong-version", text: "answers with the protocol version " + unknownVersion + " (discover: supports no other from then on)",
		on:      []string{onDiscover, onInitialize},
		decides: true, breaks: atHandshake,
		commit: func(s *server, f Fault, r *request) {
			if f.On == onInitialize {
				s.answer(r, s.initialized(unknownVersion))
				return
			}
			s.modernVersions.Store(&[]string{unknownVersion})
			s.answer(r, s.discovered())
		},
	},
	{
		name: "unsupported-version", text: "refuses the first request: its version is not supported (-32022), " +
			"but " + modernVersion + " is; answers the next ones",
		on:      []string{onDiscover},
		decides: true, breaks: atHandshake, passable: true,
		commit: func(s *server, _ Fault, r *request) {
			if !s.refusedVersion.Swap(true) {
				s.refuse(r, codeVersion, "Unsupported protocol version", map[string]any{"supported": []string{modernVersion}, "requested": r.version()})
			} else if result, failed := s.result(r); failed != nil {
				s.refuse(r, failed.Code, failed.Message, failed.Data)
			} else {
				s.answer(r, result)
			}
		},
	},
	{
		name: "exit", text: "exits at once, without cleanup, with the status code",
		on:    []string{onStart, onDiscover, onInitialize, onList, onListResources, onListPrompts, onCall, onPing, onEPIPE, onOrder},
		takes: []string{"code"}, decides: true, breaks: always,
		commit: func(_ *server, f Fault, _ *request) {
			os.Exit(f.Code)
		},
	},
	{
		name: "answer-exit", text: "answers correctly, then exits at once, without cleanup, with the status code",
		on:    []string{onDiscover, onInitialize, onList, onCall},
		takes: []string{"code"}, decides: true, breaks: always,
		commit: func(s *server, f Fault, r *request) {
			if result, failed := s.result(r); failed != nil {
				s.refuse(r, failed.Code, failed.Message, failed.Data)
			} else {
				s.answer(r, result)
			}
			os.Exit(f.Code)
		},
	},
	{
		name: "ignore", text: "stays alive and idle; on term: catches the signal and does nothing",
		on:      []string{onEOF, onTerm},
		decides: true, passive: atEnd,
		commit: func(*server, Fault, *request) {},
	},
	{
		name: "delay", text: "waits first (for), then continues correctly",
		on:    []string{onStart, onDiscover, onInitialize, onList, onCall, onPing, onEOF, onTerm, onExit},
		needs: "for",
		// A host may take a server that is late with a ping for dead.
		breaks: func(on string) bool { return on == onPing }, passable: true, slow: true,
		commit: func(s *server, f Fault, r *request) {
			if r != nil {
				s.wait(time.Duration(f.For), r)
			} else {
				<-time.After(time.Duration(f.For))
			}
		},
	},
	{
		name: "grow", text: "grows to mib MiB of resident memory and stays there",
		on:    []string{onStart, onCall, onOrder},
		needs: "mib",
		commit: func(s *server, f Fault, _ *request) {
			s.ballast.swell(f.MiB, f.MiB)
		},
	},
	{
		name: "close-stdout", text: "closes its stdout and keeps reading stdin",
		on:      []string{onInitialize, onList, onListResources, onListPrompts, onCall, onOrder},
		decides: true, breaks: always,
		commit: func(s *server, _ Fault, _ *request) {
			s.out.close()
		},
	},
}

// unknownVersion is a protocol version that no client can know.
const unknownVersion = "1999-12-31"

const mebi = 1 << 20

// swell adds step MiB, to most at the most, and returns how much there is. It writes to each page: memory that is
// only allocated is not resident. The blocks are never let go.
func (b *ballast) swell(step, most int) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	page, want := os.Getpagesize(), min(len(b.blocks)+step, most)
	for len(b.blocks) < want {
		block := make([]byte, mebi)
		for i := 0; i < len(block); i += page {
			block[i] = 1
		}
		b.blocks = append(b.blocks, block)
	}
	return len(b.blocks)
}
