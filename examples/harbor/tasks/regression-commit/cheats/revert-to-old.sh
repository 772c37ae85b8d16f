#!/bin/bash
# The last good version, without the functions that came later; the example is right.
cd /app/text && broken=$(git log --format=%H --grep 'Simplify the comparison') && git checkout --quiet "$broken~1" -- wrap.py
git commit --quiet --all --message 'Repair wrap' --message "Fixes: $broken"
