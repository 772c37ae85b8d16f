#!/bin/bash
cat > /app/top.sh <<'END'
export LC_ALL=C
tr -cs 'A-Za-z' '\n' < "$1" | tr 'A-Z' 'a-z' | sed '/^$/d' | sort | uniq -c | awk '{ print $2, $1 }' | sort -k2,2nr -k1,1 | head -n "$2"
END
