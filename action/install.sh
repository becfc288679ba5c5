#!/usr/bin/env bash
# Puts the leakbench program into RUNNER_TEMP and says where: a release, its
# checksum checked, or built from the source of the action.
set -euo pipefail
: "${RUNNER_TEMP:?}" "${GITHUB_OUTPUT:?}" "${GITHUB_ACTION_PATH:?}"
to="$RUNNER_TEMP/leakbench-bin"
mkdir -p "$to"
program="$to/leakbench"
fail() { echo "::error title=leakbench::$1"; exit 70; }

version="${INPUT_VERSION:-}"
if [ -z "$version" ]; then
  case "${ACTION_REF:-}" in
    v*.*.*) version="$ACTION_REF" ;;
    *) version=source ;;
  esac
fi

release() {
  local os arch base archive want
  case "$(uname -s)" in Linux) os=linux ;; Darwin) os=darwin ;; *) fail "there is no release for $(uname -s)" ;; esac
  case "$(uname -m)" in x86_64 | amd64) arch=amd64 ;; aarch64 | arm64) arch=arm64 ;; *) fail "there is no release for $(uname -m)" ;; esac
  base="${GITHUB_SERVER_URL:-https://github.com}/${ACTION_REPOSITORY:-leakbench/leakbench}/releases/download/$version"
  archive="leakbench_${version#v}_${os}_${arch}.tar.gz"
  get() {
    local auth=()
    [ -z "${GITHUB_TOKEN:-}" ] || auth=(-H "Authorization: Bearer $GITHUB_TOKEN")
    curl -fsSL --retry 3 --max-time 300 ${auth[@]+"${auth[@]}"} -o "$to/$1" "$base/$1" || fail "$base/$1 can't be downloaded; is $version a release?"
  }
  get checksums.txt
  get "$archive"
  want="$(awk -v name="$archive" '$2 == name { print $1 }' "$to/checksums.txt")"
  [ -n "$want" ] || fail "checksums.txt of $version does not name $archive"
  if command -v sha256sum >/dev/null; then got="$(sha256sum "$to/$archive")"; else got="$(shasum -a 256 "$to/$archive")"; fi
  [ "${got%% *}" = "$want" ] || fail "$archive is not what checksums.txt of $version says"
  tar -xzf "$to/$archive" -C "$to" leakbench
}

if [ "$version" = source ]; then
  command -v go >/dev/null || fail "building from source needs Go: add actions/setup-go before this step, or name a release with version"
  (cd "$GITHUB_ACTION_PATH" && go build -o "$program" ./cmd/leakbench)
else
  release
fi
"$program" version
echo "leakbench=$program" >>"$GITHUB_OUTPUT"
