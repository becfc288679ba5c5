#!/usr/bin/env bash
# Says on the pull request what the gate said: one comment, which later runs
# edit. A gate that never had anything to say says nothing, so that a green pull
# request stays quiet. A token that may not comment, as that of a fork, is told
# of and fails nothing: the summary of the step has it all.
set -euo pipefail
: "${GITHUB_API_URL:?}" "${GITHUB_REPOSITORY:?}" "${PULL_REQUEST:?}" "${RUNNER_TEMP:?}"
[ -n "${SUMMARY:-}" ] && [ -e "$SUMMARY" ] || exit 0
command -v jq >/dev/null || { echo "::notice title=leakbench::no comment: this runner has no jq"; exit 0; }
marker="<!-- leakbench gate: ${INPUT_NAME:-leakbench} -->"
comments="$GITHUB_API_URL/repos/$GITHUB_REPOSITORY/issues/$PULL_REQUEST/comments"
answer="$RUNNER_TEMP/leakbench-answer.json"

# api METHOD URL [BODY-FILE]: the answer is in $answer, its status is printed.
api() {
  local body=() again=(--retry 2)
  [ "$1" != POST ] || again=() # one that was answered with an error may have been written all the same
  [ -z "${3:-}" ] || body=(--data-binary "@$3" -H "Content-Type: application/json")
  curl -sS --max-time 60 ${again[@]+"${again[@]}"} -X "$1" -o "$answer" -w '%{http_code}' -H "Authorization: Bearer ${GITHUB_TOKEN:-}" \
    -H "Accept: application/vnd.github+json" -H "X-GitHub-Api-Version: 2022-11-28" ${body[@]+"${body[@]}"} "$2"
}
give_up() {
  echo "::notice title=leakbench::no comment on the pull request: $1"
  exit 0
}

mine=""
for page in $(seq 1 20); do
  status="$(api GET "$comments?per_page=100&page=$page")" || give_up "the API can't be reached"
  [ "$status" = 200 ] || give_up "the API says $status"
  # Anybody can write the marker; only who may write here, or a bot, is believed.
  mine="$(jq -r --arg marker "$marker" '[.[]? | select((.body // "") | startswith($marker))
      | select(.user.type == "Bot" or (.author_association | IN("OWNER", "MEMBER", "COLLABORATOR"))) | .id][0] // empty' "$answer")" ||
    give_up "the API's answer is none"
  [ -z "$mine" ] || break
  [ "$(jq length "$answer")" = 100 ] || break
done
if [ -z "$mine" ] && [ "${OUTCOME:-}" = pass ]; then exit 0; fi

body="$RUNNER_TEMP/leakbench-comment.json"
run="${GITHUB_SERVER_URL:-https://github.com}/$GITHUB_REPOSITORY/actions/runs/${GITHUB_RUN_ID:-}"
# A comment holds 65,536 characters at most.
jq -n --rawfile text "$SUMMARY" --arg marker "$marker" --arg run "$run" '
  {body: ($marker + "\n" + (if ($text | length) > 60000 then $text[0:60000] + "\n\n… the rest is in the report.\n" else $text end)
    + "\n[The run, with the report](" + $run + ")\n")}' >"$body"
if [ -n "$mine" ]; then
  status="$(api PATCH "$GITHUB_API_URL/repos/$GITHUB_REPOSITORY/issues/comments/$mine" "$body")" || give_up "the API can't be reached"
else
  status="$(api POST "$comments" "$body")" || give_up "the API can't be reached"
fi
case "$status" in
  200 | 201) echo "commented on pull request $PULL_REQUEST" ;;
  *) give_up "the API says $status" ;;
esac
