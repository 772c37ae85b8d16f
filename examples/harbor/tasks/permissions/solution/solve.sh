#!/bin/bash
cd /app/site
find . -type d -exec chmod 750 {} +
find . -type f -exec sh -c 'for f; do if [ "$(head -c 2 "$f")" = "#!" ]; then chmod 750 "$f"; else chmod 640 "$f"; fi; done' sh {} +
