package hostfile

import (
	"fmt"
	"os"
	"path/filepath"
)

// installEnv names the folder below which presets are installed.
const installEnv = "LEAKBENCH_HOSTS_DIR"

// InstallDir is where the packages of a preset are, or belong: below
// $LEAKBENCH_HOSTS_DIR, else in the user's cache.
func InstallDir(name, version string) (string, error) {
	base := os.Getenv(installEnv)
	if base == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("no folder for installed hosts; set %s: %w", installEnv, err)
		}
		base = filepath.Join(cache, "leakbench", "hosts")
	}
	return filepath.Abs(filepath.Join(base, name+"@"+version))
}
