package fakeserver

// listed are the methods that list something, and what they are answered with.
var listed = map[string]func() map[string]any{
	"tools/list":     toolList,
	"resources/list": resourceList,
	"prompts/list":   promptList,
}

// Lists are what a host can ask a server to list.
var Lists = []string{"tools", "resources", "prompts"}

// listMoments are the moments of lists.
var listMoments = []string{onList, onListResources, onListPrompts}

// listNotified says that the tools have changed. They never have: the host only has to ask again.
const listNotified = "notifications/tools/list_changed"

// listActs spoil a list, or make a host ask for one.
var listActs = []action{
	{
		name: "twice", text: "answers correctly, and then once more with the same id",
		on:      []string{onList, onListResources, onListPrompts, onCall},
		decides: true, breaks: always, passable: true,
		commit: func(s *server, _ Fault, r *request) { s.answerTwice(r) },
	},
	{
		name: "list-changed", text: "sends " + listNotified + "; as says what becomes of the lists that follow",
		on: []string{onOrder},
		as: []Doc{
			{Name: "answered", Text: "they are answered"},
			{Name: "hang", Text: "tools/list is never answered"},
			{Name: "reject", Text: "tools/list is answered with an error"},
			{Name: "exit", Text: "the server exits when it receives tools/list"},
			{Name: "close-stdout", Text: "the server closes its stdout when it receives tools/list"},
			{Name: "partial", Text: "half of the answer to tools/list is written"},
			{Name: "twice", Text: "tools/list is answered twice"},
		},
		commit: func(s *server, f Fault, _ *request) {
			if f.variant() != "answered" {
				s.arm(Fault{On: onList, Do: f.variant()})
			}
			s.notifyChanged()
		},
	},
}

// answerTwice sends the line of an answer two times. A batch is one line: its second answer comes by itself.
func (s *server) answerTwice(r *request) {
	result, failed := s.result(r)
	var line []byte
	if failed != nil {
		line, _ = encodeAnswer(r.ID, nil, failed)
		s.refuse(r, failed.Code, failed.Message, failed.Data)
	} else {
		s.answer(r, result)
		line, _ = encodeAnswer(r.ID, result, nil) // as answer has made it fit the era
	}
	select {
	case <-r.cancelled: // it was not answered once
	default:
		s.say(line)
	}
}

// arm adds a fault to those that are due for this launch.
func (s *server) arm(f Fault) {
	s.choice.Lock()
	defer s.choice.Unlock()
	s.faults, s.passed = append(s.faults, f), append(s.passed, 0)
}

// notifyChanged tells the host that the tools have changed. In the modern era only a subscriber hears of it.
func (s *server) notifyChanged() {
	params := map[string]any{}
	if s.greeted.Load() {
		s.say(notification(listNotified, params))
		return
	}
	if id := s.subscribed.Load(); id != nil {
		params["_meta"] = map[string]any{metaSubscription: *id}
		s.say(notification(listNotified, params))
	}
}

// capabilities are what the server declares. Its tools may change at an order; the others never do.
func capabilities() map[string]any {
	return map[string]any{
		"tools": map[string]any{"listChanged": true}, "resources": map[string]any{}, "prompts": map[string]any{},
	}
}

// Resources and Prompts are the names of what the server lists beside its tools.
var (
	Resources = []string{"motd"}
	Prompts   = []string{"greet"}
)

func resourceList() map[string]any {
	return cacheable(map[string]any{"resources": []any{
		map[string]any{"uri": "leakbench://motd", "name": Resources[0], "mimeType": "text/plain"},
	}})
}

func promptList() map[string]any {
	return cacheable(map[string]any{"prompts": []any{
		map[string]any{"name": Prompts[0], "description": "Says hello."},
	}})
}
