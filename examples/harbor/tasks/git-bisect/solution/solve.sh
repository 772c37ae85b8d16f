#!/bin/bash
cd /app/repo
git bisect start main v1 > /dev/null
git bisect run sh -c 'result=$(python3 price.py 10.03 2> /dev/null) || exit 125; [ "$result" = 12.04 ]' > /dev/null
git rev-parse refs/bisect/bad > /app/first-bad.txt
git bisect reset --quiet 2> /dev/null
