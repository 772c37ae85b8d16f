#!/bin/bash
cat > /app/failing.sh <<'END'
export LC_ALL=C
sed -nE 's/^[^ ]+ - - \[[^]]*\] "[A-Z]+ ([^ "]+) HTTP\/1\.1" ([0-9]{3}) ([0-9]+|-)$/\2 \1/p' "$1" | sed 's/?.*//' |
  awk '{ total[$2]++; if ($1 ~ /^5/) failed[$2]++ } END { for (path in failed) print failed[path], total[path], path }' | sort -k1,1nr -k3
END
