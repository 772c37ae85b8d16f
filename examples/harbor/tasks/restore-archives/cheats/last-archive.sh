#!/bin/bash
mkdir -p /app/restored
tar -xzf /app/backups/night-2026-03-10.tar.gz -C /app/restored --strip-components=1
