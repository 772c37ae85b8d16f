#!/bin/bash
cat > /app/largest.sh <<'END'
cd -- "$1" && find . -type f -printf '%s %P\n' | LC_ALL=C sort -k1,1nr -k2 | head -n "$2"
END
