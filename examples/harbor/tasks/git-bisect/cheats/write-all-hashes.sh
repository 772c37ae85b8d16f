#!/bin/bash
# One of the lines is right.
cd /app/repo && git log --format=%H > /app/first-bad.txt
