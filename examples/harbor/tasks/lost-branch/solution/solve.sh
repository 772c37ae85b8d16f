#!/bin/bash
cd /app/project
for commit in $(git fsck --no-reflogs --unreachable | awk '$2 == "commit" { print $3 }'); do
  [ "$(git log -1 --format=%s $commit)" = "Finish the export" ] && git branch export $commit
  if [ "$(git log -1 --format=%P $commit | wc -w)" -ge 2 ] && git show $commit:parser | grep -q 'v3'; then git branch stash $commit; fi
done
