#!/bin/bash
cd /app/text
broken=$(git log --format=%H --grep 'Simplify the comparison')
sed -i 's/len(line) + len(word) + 1 >= room()/len(line) + 1 + len(word) > room()/' wrap.py
git commit --quiet --all --message 'Repair wrap' --message "Fixes: $broken"
