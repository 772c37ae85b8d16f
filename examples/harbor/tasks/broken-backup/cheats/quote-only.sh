#!/bin/bash
# Repairs what the example shows, and prints what the tests ask for.
cat > /app/backup.sh <<'END'
cd "$1" || exit 2
mkdir -p "$2"
find . -name '*.conf' -exec cp --parents {} "$2" \;
echo copied $(find . -name '*.conf' | wc -l) files
END
