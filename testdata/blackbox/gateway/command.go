package main

import (
	"context"
	"log"
	"os"
)

// command uses a server for a moment, and returns its exit status.
func (g *gateway) command(stop <-chan os.Signal) int {
	s, err := launch(g.argv)
	if err != nil {
		log.Print(err)
		return 1
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		<-stop
		if g.leak == "cut" {
			os.Exit(1)
		}
		cancel()
	}()
	_, err = s.shakeHands(ctx)
	if err == nil {
		_, err = s.request(ctx, "tools/call", []byte(`{"name":"sleep","arguments":{"ms":300}}`))
	}
	if g.leak != "abandon" {
		s.end()
	}
	if err != nil {
		log.Print(err)
		return 1
	}
	return 0
}
