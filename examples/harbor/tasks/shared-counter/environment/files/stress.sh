# Eight processes add to one counter, 25 times each: the result should be 200.
rm -f /tmp/stress.json
for i in 1 2 3 4 5 6 7 8; do for j in $(seq 25); do python3 /app/counter.py /tmp/stress.json n 1 > /dev/null; done & done
wait
cat /tmp/stress.json
