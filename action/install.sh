#!/usr/bin/env bash
# Puts the leakbench program into RUNNER_TEMP and says where: a release, verified by ../install.sh, or built from the source of the action.
set -euo pipefail
: "${RUNNER_TEMP:?}" "${GITHUB_OUTPUT:?}" "${GITHUB_ACTION_PATH:?}"
to="$RUNNER_TEMP/leakbench-bin"
program="$to/leakbench"
fail() { echo "::error title=leakbench::$1"; exit 70; }

version="${INPUT_VERSION:-}"
if [ -z "$version" ]; then
  case "${ACTION_REF:-}" in
    v*.*.*) version="$ACTION_REF" ;;
    *) version=source ;;
  esac
fi

if [ "$version" = source ]; then
  command -v go >/dev/null || fail "building from source needs Go: add actions/setup-go before this step, or name a release with version"
  mkdir -p "$to"
  (cd "$GITHUB_ACTION_PATH" && go build -o "$program" ./cmd/leakbench)
  "$program" version
else
  export LEAKBENCH_VERSION="$version" LEAKBENCH_REPOSITORY="${ACTION_REPOSITORY:-leakbench/leakbench}" LEAKBENCH_PROVENANCE="${INPUT_PROVENANCE:-auto}"
  said="$(sh "$GITHUB_ACTION_PATH/install.sh" "$to" 2>&1)" || fail "${said//$'\n'/%0A}"
  echo "$said"
fi
echo "leakbench=$program" >>"$GITHUB_OUTPUT"
