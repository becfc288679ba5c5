package fakeserver

var hangAction = action{
	name: "hang", text: "never answers this request, but others, ping too; on order: answers nothing any more",
	on:      []string{onDiscover, onInitialize, onList, onCall, onPing, onOrder},
	decides: true,
	breaks:  always,
	commit: func(s *server, f Fault, _ *request) bool {
		if f.On == onOrder {
			s.out.mute()
		}
		return true
	},
}
