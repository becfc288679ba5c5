#!/usr/bin/env bash
# Runs the gate on the caller's host. It always ends with 0 and leaves the exit
# code in the step's outputs: the report is uploaded and the comment written
# whatever the answer, and a last step gives it.
set -euo pipefail
: "${RUNNER_TEMP:?}" "${GITHUB_OUTPUT:?}" "${LEAKBENCH:?}"
# The name becomes a folder, and part of the step's outputs.
bad_name=""
case "${INPUT_NAME:=leakbench}" in *[!A-Za-z0-9\ ._-]*) bad_name=yes INPUT_NAME=leakbench ;; esac
work="$RUNNER_TEMP/leakbench-$INPUT_NAME"
mkdir -p "$work"
suffix="$INPUT_NAME${INPUT_SHARD:+-${INPUT_SHARD//\//-of-}}"
report="$work/$suffix-report.html"
summary="$work/summary.md"
blob="$work/$suffix-runs.zip"
notes="$work/annotations.txt"
rm -f "$report" "$summary" "$blob" "$notes"
cd "${INPUT_DIRECTORY:-.}"

# A word that is neither true nor false would be no: a gate that is not as strict as its author believes.
code=0
refuse() {
  echo "::error title=leakbench::$1"
  code=2
}
[ -z "$bad_name" ] || refuse "name holds other characters than letters, digits, blanks, dots, dashes and underscores"
for input in "strict ${INPUT_STRICT:-}" "baseline ${INPUT_BASELINE:-}" "comment ${INPUT_COMMENT:-}"; do
  case "${input#* }" in "" | true | false) ;; *) refuse "${input%% *} is \"${input#* }\": it is true or false" ;; esac
done

# The inputs are the words of the workflow's author, read as a shell reads them.
words=() host=()
set +u # a variable that is not set is nothing, as in a shell
eval "words=(${INPUT_SCENARIOS:-} ${INPUT_ARGS:-})" || refuse "scenarios or args can't be read as the words of a shell"
if [ -n "${INPUT_COMMAND:-}" ]; then eval "host=(-- ${INPUT_COMMAND})" || refuse "command can't be read as the words of one command; bash -c '...' runs several"; fi
set -u
words+=(--retries "${INPUT_RETRIES:-1}" --measures "${INPUT_MEASURES:-warn}" --blob "$blob" --out "$work/runs")
words+=(--reporter "github=$notes,md=$summary,html=$report")
known="${INPUT_KNOWN:-.leakbench/known.yaml}"
if [ "$known" != .leakbench/known.yaml ] || [ -e "$known" ]; then words+=(--known "$known"); fi
if [ "${INPUT_STRICT:-}" = true ]; then words+=(--strict); fi
if [ -n "${INPUT_SHARD:-}" ]; then words+=(--shard "$INPUT_SHARD"); fi
if [ -n "${INPUT_HOST:-}" ]; then words+=(--host "$INPUT_HOST"); fi
# The default branch makes the baseline, and others are held against what the
# cache has of it: never against what an earlier step of the same job has found.
keeps="" kept="$work/baseline.zip"
if [ "${INPUT_BASELINE:-}" = true ] && [ -z "${INPUT_SHARD:-}" ]; then
  if [ "${REF_NAME:-}" = "${DEFAULT_BRANCH:-}" ]; then
    keeps=yes
  elif [ -e "$kept" ]; then
    words+=(--baseline "$kept")
  fi
fi

if [ "$code" = 0 ]; then "$LEAKBENCH" gate "${words[@]}" ${host[@]+"${host[@]}"} || code=$?; fi

# The places of annotations are those of the repository, not of the folder that
# the host is in.
root="$(cd "${GITHUB_WORKSPACE:-$OLDPWD}" && pwd -P)"
folder="$(pwd -P)/"
case "$folder" in "$root"/*) folder="${folder#"$root"/}" ;; *) folder="" ;; esac
folder="${folder//%/%25}" folder="${folder//:/%3A}" folder="${folder//,/%2C}"
if [ -e "$notes" ]; then
  while IFS= read -r line; do
    case "$line" in "::error file="* | "::warning file="*) line="${line/ file=/ file=$folder}" ;; esac
    printf '%s\n' "$line"
  done <"$notes"
fi

# An answer that came before anything could be reported is told as well, on the
# pull request too, where an earlier one may say otherwise.
if [ ! -e "$summary" ]; then
  printf '## ❔ leakbench gate: exit %s before anything could be reported\n\nThe log of the job says why.\n' "$code" >"$summary"
fi
case "$code" in
  0) outcome=pass ;;
  1) outcome=fail ;;
  3) outcome=inconclusive ;;
  4) outcome=host-failed ;;
  *) outcome=error ;;
esac
{
  echo "exit-code=$code"
  echo "outcome=$outcome"
  if [ -e "$report" ]; then
    echo "report=$report"
    echo "report-name=$suffix-report"
  fi
  echo "summary=$summary"
  if [ -e "$blob" ]; then
    echo "blob=$blob"
    echo "blob-name=$suffix-runs"
  fi
} >>"$GITHUB_OUTPUT"
if [ -n "$keeps" ] && [ -e "$blob" ]; then cp "$blob" "$kept"; fi
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
  cat "$summary" >>"$GITHUB_STEP_SUMMARY"
fi
