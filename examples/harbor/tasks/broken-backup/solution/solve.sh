#!/bin/bash
cat > /app/backup.sh <<'END'
#!/bin/bash
# Copies all files that end in .conf from SOURCE to TARGET, with their folders.
[ -d "$1" ] || exit 2
mkdir -p -- "$2" && target=$(cd -- "$2" && pwd) && cd -- "$1" || exit 1
count=0
while IFS= read -r -d '' file; do
  mkdir -p -- "$target/$(dirname -- "$file")" && cp -- "$file" "$target/$file" && count=$((count + 1))
done < <(find . -type f -name '*.conf' -print0)
echo "copied $count files"
END
