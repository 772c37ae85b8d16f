#!/bin/bash
cd /app && cat > failing.sh <<'END'
cat /app/result
END
awk '{ split($6, p, "?"); t[p[1]]++; if ($8 >= 500) f[p[1]]++ } END { for (x in f) print f[x], t[x], x }' access.log | sort -nr > result
