package fakeserver

import (
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// Tools are the names of the tools.
var Tools = []string{"echo", "sleep", "whoami"}

// maxSleep is longer than any scenario wants.
const maxSleep = time.Hour

// toolList is the result of tools/list.
func toolList() map[string]any {
	object := func(properties map[string]any, required ...string) map[string]any {
		properties["session"] = map[string]any{"type": "string", "description": "Whose call this is, for the bench's record."}
		properties["own"] = map[string]any{"type": "boolean", "description": "That this server is for that session alone."}
		schema := map[string]any{"type": "object", "properties": properties}
		if len(required) > 0 {
			schema["required"] = required
		}
		return schema
	}
	return cacheable(map[string]any{"tools": []any{
		map[string]any{
			"name": "echo", "description": "Returns text.",
			"inputSchema": object(map[string]any{"text": map[string]any{"type": "string"}}),
		},
		map[string]any{
			"name": "sleep", "description": "Returns after ms milliseconds. Can be cancelled.",
			"inputSchema": object(map[string]any{"ms": map[string]any{"type": "integer", "minimum": 0, "maximum": maxSleep.Milliseconds()}}, "ms"),
		},
		map[string]any{
			"name": "whoami", "description": "Returns which process of the bench this is, as JSON.",
			"inputSchema": object(map[string]any{}),
		},
	}})
}

// call runs a tool. An *rpcError is a call that no correct client makes.
func (s *server) call(r *request) (map[string]any, *rpcError) {
	var args struct {
		Text string `json:"text"`
		MS   *int64 `json:"ms"`
	}
	if len(r.params.Arguments) > 0 {
		if err := json.Unmarshal(r.params.Arguments, &args); err != nil {
			return nil, &rpcError{Code: codeParams, Message: "Invalid arguments: " + err.Error()}
		}
	}
	switch r.params.Name {
	case "echo":
		return textResult(args.Text), nil
	case "sleep":
		if args.MS == nil || *args.MS < 0 || *args.MS > maxSleep.Milliseconds() {
			return nil, &rpcError{Code: codeParams, Message: fmt.Sprintf("Invalid arguments: ms must be 0 to %d", maxSleep.Milliseconds())}
		}
		s.wait(time.Duration(*args.MS)*time.Millisecond, r)
		return textResult(fmt.Sprintf("slept %d ms", *args.MS)), nil
	case "whoami":
		return textResult(s.whoami()), nil
	}
	return nil, &rpcError{Code: codeParams, Message: fmt.Sprintf("Unknown tool: %.100q", r.params.Name)}
}

// whoami names this process, so that a host's caller can tell two launches
// apart.
func (s *server) whoami() string {
	text, _ := json.Marshal(struct {
		PID     int    `json:"pid"`
		Label   string `json:"label"`
		Launch  int    `json:"launch"`
		Session string `json:"session,omitempty"`
	}{os.Getpid(), s.options.label, s.options.launch, s.options.session})
	return string(text)
}

func textResult(text string) map[string]any {
	return map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}}
}
