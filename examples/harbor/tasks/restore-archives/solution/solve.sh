#!/bin/bash
mkdir -p /app/restored
for archive in /app/backups/night-*.tar.gz; do tar -xzf "$archive" -C /app/restored --strip-components=1; done
