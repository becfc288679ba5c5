package ledger_test

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/fakeserver/birth"
	"github.com/leakbench/leakbench/internal/observe/ledger"
	"github.com/leakbench/leakbench/internal/observe/socket/sockettest"
	"github.com/leakbench/leakbench/internal/record"
)

// TestAnotherUserIsRefused, even one who has come into the folder and knows the run.
func TestAnotherUserIsRefused(t *testing.T) {
	t.Parallel()
	dir := sockettest.OpenDir(t)
	b := open(t, func(p *ledger.Params) { gone(p); p.Dir = dir })
	require.NoError(t, os.Chmod(b.Path(), 0o777)) //nolint:gosec // another user is to reach it
	conn := sockettest.DialAs(t, 54321, b.Path())
	defer conn.Close()
	certificate, err := json.Marshal(me("s"))
	require.NoError(t, err)
	_, _ = conn.Write(append(certificate, '\n'))
	doubt := b.await(1, record.Doubted)[0].Doubt
	assert.Equal(t, record.DoubtLedgerStranger, doubt.Code)
	assert.Contains(t, doubt.Text, "it belongs to user 54321")
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	said, err := io.ReadAll(conn)
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "it is hung up on")
	assert.NotContains(t, string(said), "script")
	good, _, err := birth.Dial(b.Path(), me("bare"))
	require.NoError(t, err)
	good.Close()
	b.await(1, record.Born)
}

// TestLinksInASharedFolder: nothing is removed through a link, and nothing that another user has made.
func TestLinksInASharedFolder(t *testing.T) {
	base, err := os.MkdirTemp("/tmp", "links-") // short enough for sockets, whatever $TMPDIR is
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	victim := t.TempDir()
	kept := filepath.Join(victim, "kept")
	require.NoError(t, os.WriteFile(kept, nil, 0o600))
	link := filepath.Join(base, "lb-1")
	require.NoError(t, os.Symlink(victim, link))
	inside := filepath.Join(base, "lb-2")
	require.NoError(t, os.Mkdir(inside, 0o700))
	require.NoError(t, os.Symlink(victim, filepath.Join(inside, "x")))
	foreign := filepath.Join(base, "lb-3")
	require.NoError(t, os.Mkdir(foreign, 0o700))
	if os.Getuid() == 0 {
		require.NoError(t, os.Chown(foreign, 54321, 54321))
	}
	old := time.Now().Add(-time.Hour)
	for _, path := range []string{victim, inside, foreign} {
		require.NoError(t, os.Chtimes(path, old, old))
	}
	t.Setenv("TMPDIR", base)
	dir, err := ledger.NewDir()
	require.NoError(t, err)
	defer func() { _ = ledger.RemoveDir(dir) }()
	info, err := os.Lstat(dir)
	require.NoError(t, err)
	assert.Equal(t, os.ModeDir|0o700, info.Mode())
	assert.Equal(t, base, filepath.Dir(dir))
	assert.FileExists(t, kept, "it is reached by links alone")
	assert.NoDirExists(t, inside, "it is this user's, old, and nobody's")
	_, err = os.Lstat(link)
	require.NoError(t, err)
	if os.Getuid() == 0 {
		assert.DirExists(t, foreign, "another user's, even where root could")
	}
}
