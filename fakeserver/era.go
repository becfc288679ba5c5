package fakeserver

import (
	"encoding/json"
	"fmt"
)

// The eras.
const (
	EraLegacy     = "legacy"
	EraLegacyMute = "legacy-mute"
	EraModern     = "modern"
	EraDual       = "dual"
)

var eras = []string{EraLegacy, EraLegacyMute, EraModern, EraDual}

// legacyVersions are the protocol versions that begin with initialize, newest first.
var legacyVersions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// modernVersion carries version and capabilities in each request's _meta.
const modernVersion = "2026-07-28"

const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaSubscription = "io.modelcontextprotocol/subscriptionId"
	metaServerInfo   = "io.modelcontextprotocol/serverInfo"
)

var serverInfo = map[string]any{"name": "leakbench-fakeserver", "version": "1.0.0"}

// negotiate is the version that initialize answers with: the client's, or the
// newest where that is unknown (2025-11-25, basic/lifecycle).
func negotiate(asked string) string {
	if contains(legacyVersions, asked) {
		return asked
	}
	return legacyVersions[0]
}

func (s *server) initialized(version string) map[string]any {
	return map[string]any{
		"protocolVersion": version,
		"capabilities":    capabilities(),
		"serverInfo":      serverInfo,
	}
}

func (s *server) discovered() map[string]any {
	return cacheable(map[string]any{
		"supportedVersions": s.supported(),
		"capabilities":      capabilities(),
	})
}

// supported is every version that this server speaks, newest first.
func (s *server) supported() []string {
	modern := *s.modernVersions.Load()
	if s.era == EraDual {
		return append(append([]string{}, modern...), legacyVersions...)
	}
	return modern
}

// cacheable adds what 2026-07-28 wants in lists and in discovery. A legacy answer loses it again.
func cacheable(result map[string]any) map[string]any {
	result["ttlMs"], result["cacheScope"] = 0, "private"
	return result
}

// forEra makes a result one of the request's era.
func forEra(r *request, result map[string]any) map[string]any {
	if !r.modern {
		delete(result, "ttlMs")
		delete(result, "cacheScope")
		return result
	}
	result["resultType"] = "complete"
	result["_meta"] = map[string]any{metaServerInfo: serverInfo}
	return result
}

// isModern reports whether r is to be served by the rules of 2026-07-28. A
// dual server goes by how the client opens (2026-07-28, basic/versioning).
func (s *server) isModern(r *request) bool {
	switch s.era {
	case EraModern:
		return true
	case EraDual:
		_, declared := r.params.Meta[metaVersion]
		return declared || r.Method == "server/discover"
	}
	return false
}

// checkMeta is what is wrong with a modern request's _meta, nil if nothing is.
func (s *server) checkMeta(r *request) *rpcError {
	version := r.version()
	if version == "" {
		return &rpcError{Code: codeParams, Message: "_meta must have " + metaVersion}
	}
	if !contains(*s.modernVersions.Load(), version) {
		return &rpcError{Code: codeVersion, Message: "Unsupported protocol version", Data: s.versions(r)}
	}
	var capabilities map[string]any
	if json.Unmarshal(r.params.Meta[metaCapabilities], &capabilities) != nil || capabilities == nil {
		return &rpcError{Code: codeParams, Message: "_meta must have " + metaCapabilities}
	}
	return nil
}

// version is the protocol version that a modern request declares, or "".
func (r *request) version() (version string) {
	_ = json.Unmarshal(r.params.Meta[metaVersion], &version)
	return version
}

// versions are what is said of versions to one whose own is not supported.
func (s *server) versions(r *request) map[string]any {
	return map[string]any{"supported": s.supported(), "requested": r.version()}
}

// listen acknowledges a subscription, which stays open: its answer comes when it ends, if it ever does. The one kind of
// notification that there could be is the one that is offered (2026-07-28, basic/patterns/subscriptions).
func (s *server) listen(r *request) {
	var wanted struct {
		Tools bool `json:"toolsListChanged"`
	}
	_ = json.Unmarshal(r.params.Notifications, &wanted)
	agreed := map[string]any{}
	if wanted.Tools {
		agreed["toolsListChanged"] = true
		s.subscribed.Store(&r.ID)
	}
	s.say(notification("notifications/subscriptions/acknowledged", map[string]any{
		"_meta": map[string]any{metaSubscription: r.ID}, "notifications": agreed,
	}))
}

// noInitialize names the versions, the only hint that a legacy client's user gets (2026-07-28, basic/versioning).
func (s *server) noInitialize() *rpcError {
	return &rpcError{
		Code:    codeMethod,
		Message: fmt.Sprintf("initialize is gone: this server speaks %v; use server/discover", s.supported()),
		Data:    map[string]any{"supported": s.supported()},
	}
}
