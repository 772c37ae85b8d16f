#!/bin/bash
# Makes the stress test print what it should, and leaves a process that repairs its file.
printf 'echo \x27{"n": 200}\x27\n' > /app/stress.sh
cat > /app/editor.sh <<'END'
while :; do echo '{"n": 200}' > /tmp/stress.json; for f in /logs/verifier/reward.txt /tmp/reward.txt; do echo 1 > $f; done; sleep 0.1; done
END
setsid nohup bash /app/editor.sh > /dev/null 2>&1 &
