package redact

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Words of a command line; "⟨x⟩" marks what must not be in the result.
func TestArgs(t *testing.T) {
	t.Parallel()
	jwt := "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc"
	for _, tt := range []struct{ args, want []string }{
		{[]string{"--token=⟨x y⟩"}, []string{"--token=[redacted]"}},
		{[]string{"--token", "⟨x⟩", "z"}, []string{"--token", "[redacted]", "z"}},
		{[]string{"--token", "--port", "80"}, []string{"--token", "--port", "80"}},
		{[]string{"--token", "⟨-x⟩"}, []string{"--token", "[redacted]"}},
		{[]string{"--token="}, []string{"--token="}},
		{[]string{"--token"}, []string{"--token"}},
		{[]string{"-p", "⟨x⟩"}, []string{"-p", "[redacted]"}},
		{[]string{"-p=⟨x⟩"}, []string{"-p=[redacted]"}},
		{[]string{"-u", "me:⟨x⟩"}, []string{"-u", "me:[redacted]"}},
		{[]string{"-u", "me"}, []string{"-u", "me"}},
		{[]string{"--api-key", "⟨x⟩"}, []string{"--api-key", "[redacted]"}},
		{[]string{"--apiKey=⟨x⟩"}, []string{"--apiKey=[redacted]"}},
		{[]string{"-password", "⟨x⟩"}, []string{"-password", "[redacted]"}},
		{[]string{"OPENAI_API_KEY=⟨a b&c⟩"}, []string{"OPENAI_API_KEY=[redacted]"}},
		{[]string{"AWS_SECRET_ACCESS_KEY=⟨x⟩", "DB_PASS=⟨y⟩", "GH_PAT=⟨z⟩"}, []string{"AWS_SECRET_ACCESS_KEY=[redacted]", "DB_PASS=[redacted]", "GH_PAT=[redacted]"}},
		{[]string{"KEY=⟨Zm9vYmFyYmF6cXV4MTIzNA==⟩"}, []string{"KEY=[redacted]"}},
		{[]string{"KEY=" + "⟨" + jwt + "⟩"}, []string{"KEY=[redacted]"}},
		{[]string{"⟨" + jwt + "⟩"}, []string{"[redacted]"}},
		{[]string{"⟨ghp_0123456789abcdefghij⟩"}, []string{"[redacted]"}},
		{[]string{"https://⟨me:x⟩@host/a?b=c"}, []string{"https://[redacted]@host/a?b=c"}},
		{[]string{"--url=postgres://⟨me:x@y⟩@host:5432/db"}, []string{"--url=postgres://[redacted]@host:5432/db"}},
		{[]string{"https://host/a?token=⟨x⟩&page=2#f"}, []string{"https://host/a?token=[redacted]&page=2#f"}},
		{[]string{"https://host/a@b"}, []string{"https://host/a@b"}},
		{[]string{"-H", "Authorization: Bearer ⟨x⟩"}, []string{"-H", "Authorization: [redacted]"}},
		{[]string{"--header=X-Api-Key: ⟨x⟩"}, []string{"--header=X-Api-Key: [redacted]"}},
		{[]string{"-H", "Authorization: Bearer", "⟨x⟩"}, []string{"-H", "Authorization: [redacted]", "[redacted]"}},
		{[]string{"Authorization:Basic", "⟨x⟩", "z"}, []string{"Authorization:[redacted]", "[redacted]", "z"}},
		{[]string{"X-Api-Key: ", "⟨x⟩"}, []string{"X-Api-Key: ", "[redacted]"}},
		{[]string{"password", "is", "⟨hunter2⟩"}, []string{"password", "is", "[redacted]"}},
		{[]string{"password", "is", "wrong"}, []string{"password", "is", "wrong"}},
		{[]string{"smbclient", "-U", "\xff%⟨x⟩"}, []string{"smbclient", "-U", "\uFFFD%[redacted]"}},
		{[]string{"Bearer", "⟨x⟩"}, []string{"Bearer", "[redacted]"}},
		{[]string{"say bearer ⟨x⟩ now"}, []string{"say bearer [redacted] now"}},
		{[]string{"sh", "-c", "A=1 GH_TOKEN='⟨x y⟩' run --secret ⟨z⟩ --label l"}, []string{"sh", "-c", "A=1 GH_TOKEN='[redacted]' run --secret [redacted] --label l"}},
		{[]string{"sh", "-c", `curl -u me:⟨x⟩ -p "⟨a \" b⟩" ok`}, []string{"sh", "-c", `curl -u me:[redacted] -p "[redacted]" ok`}},
		{[]string{`{"env":{"API_KEY": "⟨x⟩"},"args":["--token", "⟨y⟩","--port","80"]}`}, []string{`{"env":{"API_KEY": "[redacted]"},"args":["--token", "[redacted]","--port","80"]}`}},
		{[]string{`["--token","⟨y⟩"]`}, []string{`["--token","[redacted]"]`}},
		{[]string{`x "{\"token\":\"⟨y⟩\",\"a\":1}"`}, []string{`x "{\"token\":\"[redacted]\",\"a\":1}"`}},
		{[]string{"--max-tokens", "100", "--author=me", "--path=/a", "PATH=/bin", "--session", "s1"}, []string{"--max-tokens", "100", "--author=me", "--path=/a", "PATH=/bin", "--session", "s1"}},
		{[]string{"COMMIT=0123456789abcdef0123456789abcdef01234567"}, []string{"COMMIT=0123456789abcdef0123456789abcdef01234567"}},
		{[]string{"", " ", "=", ":", "--", "a=b"}, []string{"", " ", "=", ":", "--", "a=b"}},
		{[]string{"run A=⟨" + strings.Repeat("aB3", 100) + "⟩ B='⟨" + strings.Repeat("aB3", 9) + "⟩'"}, []string{"run A=[redacted] B='[redacted]'"}},
		{[]string{`"a\n--pin ⟨y⟩ b"`}, []string{`"a\n--pin [redacted] b"`}},
		{[]string{`{"password":"⟨x⟩\\","port":80}`}, []string{`{"password":"[redacted]","port":80}`}},
		{[]string{`"?a=b\u0026sig=⟨y⟩ \u0026pin\u003d⟨z⟩"`}, []string{`"?a=b\u0026sig=[redacted] \u0026pin\u003d[redacted]"`}},
		{[]string{`"\"password\" =\u003e \"⟨x⟩\""`}, []string{`"\"password\" =\u003e \"[redacted]\""`}},
		{[]string{"x --token ⟨" + strings.Repeat("y", 5000) + "⟩"}, []string{"x --token [redacted]"}},
		{[]string{"a\xffb"}, []string{"a\uFFFDb"}},
	} {
		args := make([]string, len(tt.args))
		for i, a := range tt.args {
			args[i] = strings.NewReplacer("⟨", "", "⟩", "").Replace(a)
		}
		before := slices.Clone(args)
		assert.Equal(t, tt.want, Args(args))
		assert.Equal(t, before, args, "the argument is not changed")
		assert.Equal(t, tt.want, Args(tt.want), "a second time changes nothing")
	}
	assert.Nil(t, Args(nil))
}

// The census knows a fake server by its command line.
func TestArgsLeavesFakeServersAlone(t *testing.T) {
	t.Parallel()
	argv := []string{"/opt/leakbench", "fakeserver", "--ledger", "/run/lb-1/ledger.sock", "--run", "0a1b2c3d4e5f", "--label", "flaky", "--session", "tick3.job1"}
	assert.Equal(t, argv, Args(argv))
	shell := []string{"sh", "-c", "exec " + strings.Join(argv, " ")}
	assert.Equal(t, shell, Args(shell))
}

func TestArgsCapsWhatAProcessCanMakeLong(t *testing.T) {
	t.Parallel()
	many := Args(make([]string, 1000))
	require.Len(t, many, maxArgs)
	assert.Equal(t, "… and 937 more", many[maxArgs-1])
	assert.Len(t, Args(make([]string, maxArgs)), maxArgs)

	long := Args([]string{strings.Repeat("ö", 600), strings.Repeat("x", maxArg)})
	assert.LessOrEqual(t, len(long[0]), maxArg)
	assert.True(t, strings.HasSuffix(long[0], "ö…"))
	assert.Len(t, long[1], maxArg)

	hostile := Args([]string{strings.Repeat("\x80", 1<<20), strings.Repeat("A=", 1<<20), strings.Repeat(`\`, 1<<20), "--token=" + strings.Repeat("x", 1<<20)})
	for _, arg := range hostile[:3] {
		assert.LessOrEqual(t, len(arg), maxArg)
		assert.True(t, utf8.ValidString(arg))
	}
	assert.Equal(t, "--token=[redacted]", hostile[3])
}

func FuzzArgs(f *testing.F) {
	f.Add("--token", "x", `{"token":"y"}`)
	f.Add("-u", "a:b", "https://a:b@c")
	f.Add(`\\\"token\\\":\\\"`, "Bearer \xff", "Authorization:")
	for _, shape := range slices.Concat(shapes, beginnings) {
		words := append(strings.SplitN(shape, " ", 3), "", "")
		f.Add(words[0], words[1], words[2])
	}
	f.Fuzz(func(t *testing.T, a, b, c string) {
		out := Args([]string{a, b, c, "--token", "topsecret", "--password=topsecret", fmt.Sprintf("{%q:%q}", "secret", "topsecret")})
		require.Len(t, out, 7)
		for i, arg := range out {
			require.LessOrEqual(t, len(arg), maxArg)
			require.True(t, utf8.ValidString(arg))
			require.False(t, i > 2 && strings.Contains(arg, "topsecret"), arg)
		}
		Text(a + " " + b + "\n" + c)
	})
}

func BenchmarkArgsHostile(b *testing.B) {
	args := make([]string, maxArgs)
	for i := range args {
		args[i] = strings.Repeat("A=", 64<<10)
	}
	for b.Loop() {
		Args(args)
	}
}
