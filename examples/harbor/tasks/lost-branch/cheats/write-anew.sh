#!/bin/bash
# The same files and messages, in new commits.
cd /app/project && git checkout --quiet -b export main~1
printf 'export done\n' > export && printf 'parse v1 with export\n' > parser && git add --all && git commit --quiet --message 'Finish the export'
git checkout --quiet -b stash main && printf 'parse v3, not finished\n' > parser && git commit --quiet --all --message 'WIP on main' && git checkout --quiet main
