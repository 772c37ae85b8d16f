#!/bin/bash
cat > /app/sort.sh <<'END'
moved=0 status=0
for path in "$1"/IMG_*; do
  name=${path##*/}
  [[ -f $path && ! -L $path && $name =~ ^IMG_([0-9]{4})([0-9]{2})([0-9]{2})_([0-9]{4})\.jpg$ ]] || continue
  folder=$2/${BASH_REMATCH[1]}/${BASH_REMATCH[2]}/${BASH_REMATCH[3]}
  target=$folder/${BASH_REMATCH[4]}.jpg
  if [ -e "$target" ] || [ -L "$target" ]; then status=1; continue; fi
  mkdir -p "$folder" && mv -- "$path" "$target" && moved=$((moved + 1)) || status=1
done
echo $moved
exit $status
END
