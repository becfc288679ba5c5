package driver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// What a server can be asked to list.
const (
	ListTools     = "tools"
	ListResources = "resources"
	ListPrompts   = "prompts"
)

// Lists are all of them.
var Lists = []string{ListTools, ListResources, ListPrompts}

// Lister is a Handler that can be asked what the server of a session offers: what is one of Lists. It asks the server each time.
type Lister interface {
	List(ctx context.Context, session, what string) ([]string, error)
}

// ListingClient is a Client that can be asked what its server offers: what is one of Lists. It asks the server each time.
type ListingClient interface {
	Client
	List(ctx context.Context, what string) ([]string, error)
}

// List asks the server of a session, if its client is a ListingClient.
func (h *Clients) List(ctx context.Context, session, what string) ([]string, error) {
	h.mu.Lock()
	c := h.all[session]
	h.mu.Unlock()
	switch c := c.(type) {
	case nil:
		return nil, noSession(session)
	case ListingClient:
		return c.List(ctx, what)
	}
	return nil, errNoList
}

var errNoList = errors.New("this client lists nothing")

// offersList says that all clients are ListingClients, by the type that connect returns.
func (h *Clients) offersList() bool { return h.lists }

func listing[C Client]() bool {
	return reflect.TypeFor[C]().Implements(reflect.TypeFor[ListingClient]())
}

// lists says that a handler can be asked for a list.
func lists(h Handler) bool {
	_, ok := h.(Lister)
	some, asks := h.(interface{ offersList() bool })
	return ok && (!asks || some.offersList())
}

func (s *serving) list(ctx context.Context, req Request) (json.RawMessage, error) {
	h, ok := s.h.(Lister)
	if !ok {
		return nil, errors.New("this driver has no List")
	}
	if !slices.Contains(Lists, req.What) {
		return nil, fmt.Errorf("list needs what: one of %s", strings.Join(Lists, ", "))
	}
	names, err := h.List(ctx, req.Session, req.What)
	if err != nil {
		return nil, err
	}
	return json.Marshal(append([]string{}, names...))
}
