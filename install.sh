#!/bin/sh
# Installs the leakbench program of a release: sh install.sh [DIR], by default into ~/.local/bin.
# Nothing is installed unless its checksum is right, and its provenance where gh, the command line of GitHub, is there to verify it.
#   LEAKBENCH_VERSION     the release, for example v0.1.0; the install.sh of a release knows its own
#   LEAKBENCH_FROM        a folder or a URL that has the files of the release; default: the release on GitHub
#   LEAKBENCH_PROVENANCE  auto: verified if gh is there (default); require: an error if it can't be verified; skip: not verified
#   LEAKBENCH_REPOSITORY  whose release it is, and who must have signed it; default: leakbench/leakbench
#   GITHUB_TOKEN          for a download from GitHub
set -eu
version=${LEAKBENCH_VERSION:-}
repository=${LEAKBENCH_REPOSITORY:-leakbench/leakbench}
provenance=${LEAKBENCH_PROVENANCE:-auto}
to=${1:-$HOME/.local/bin}
fail() { echo "install.sh: $1" >&2; exit 70; }

[ -n "$version" ] || fail "no release is named: set LEAKBENCH_VERSION, for example to v0.1.0"
case $provenance in auto | require | skip) ;; *) fail "LEAKBENCH_PROVENANCE is \"$provenance\": it is auto, require or skip" ;; esac
case $(uname -s) in Linux) os=linux ;; Darwin) os=darwin ;; *) fail "there is no release for $(uname -s)" ;; esac
case $(uname -m) in x86_64 | amd64) arch=amd64 ;; aarch64 | arm64) arch=arm64 ;; *) fail "there is no release for $(uname -m)" ;; esac
from=${LEAKBENCH_FROM:-${GITHUB_SERVER_URL:-https://github.com}/$repository/releases/download/$version}
archive=leakbench_${version#v}_${os}_$arch.tar.gz
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# get FILE: 0 if it is there
get() {
  case $from in
    http://* | https://*)
      if [ -n "${GITHUB_TOKEN:-}" ] && [ -z "${LEAKBENCH_FROM:-}" ]; then
        curl -fsSL --retry 3 --max-time 300 -H "Authorization: Bearer $GITHUB_TOKEN" -o "$dir/$1" "$from/$1"
      else
        curl -fsSL --retry 3 --max-time 300 -o "$dir/$1" "$from/$1"
      fi
      ;;
    *) cp "$from/$1" "$dir/$1" ;;
  esac
}
need() { get "$1" || fail "$from/$1 can't be had; is $version a release?"; }

need checksums.txt
need "$archive"
want=$(awk -v name="$archive" '$2 == name { print $1 }' "$dir/checksums.txt")
[ -n "$want" ] || fail "checksums.txt of $version does not name $archive"
if command -v sha256sum >/dev/null; then got=$(sha256sum "$dir/$archive"); else got=$(shasum -a 256 "$dir/$archive"); fi
[ "${got%% *}" = "$want" ] || fail "$archive is not what checksums.txt of $version says"

if [ "$provenance" = skip ]; then
  echo "install.sh: the checksum is right; the provenance was not verified (LEAKBENCH_PROVENANCE=skip)" >&2
elif ! command -v gh >/dev/null || ! gh attestation verify --help 2>&1 | grep -q -- --signer-workflow; then
  [ "$provenance" = auto ] || fail "the provenance can't be verified: install a newer gh, the command line of GitHub"
  echo "install.sh: the checksum is right; the provenance was not verified, because no gh is there that can" >&2
else
  need provenance.jsonl
  gh attestation verify "$dir/$archive" --bundle "$dir/provenance.jsonl" --repo "$repository" --deny-self-hosted-runners \
    --signer-workflow "$repository/.github/workflows/release.yml" >"$dir/gh.log" 2>&1 ||
    fail "the provenance of $archive is not that of a release of $repository: $(cat "$dir/gh.log")"
  echo "install.sh: the checksum is right, and $repository has signed the provenance" >&2
fi
tar -xzf "$dir/$archive" -C "$dir" leakbench
mkdir -p "$to"
mv -f "$dir/leakbench" "$to/leakbench"
"$to/leakbench" version
