#!/bin/sh
# Runs in /app over a copy of the policy's files, after the end of its processes.
if cmp -s /app/totals.csv /tests/totals.csv; then reward=1; else reward=0; fi
echo "$reward" > /logs/verifier/reward.txt
