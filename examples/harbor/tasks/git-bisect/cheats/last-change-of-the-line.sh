#!/bin/bash
# The newest commit that touched the expression, without running anything.
cd /app/repo && git log -1 --format=%H -S '2e-3' -- price.py > /app/first-bad.txt
