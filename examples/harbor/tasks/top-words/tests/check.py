import collections
import random
import re

rng = random.Random(5)
vocabulary = ["alpha", "Beta", "GAMMA", "a", "I", "don't", "x1y2", "snake_case", "zebra", "the", "The", "co-op", "caf\u00e9s"]
texts = ["", "...\n 12 34\n", "one", "b a B A\nc"]
texts += ["".join(rng.choice(vocabulary) + rng.choice([" ", "\n", "\t", ", ", "--"]) for _ in range(400)) for _ in range(3)]
for text in texts:
    root = fresh({"text with space.txt": text})
    counts = collections.Counter(word.lower() for word in re.findall("[A-Za-z]+", text))
    for number in (1, 3, 100):
        correct = "".join(f"{word} {count}\n" for word, count in sorted(counts.items(), key=lambda each: (-each[1], each[0]))[:number])
        got = output(["/bin/bash", "/app/top.sh", f"{root}/text with space.txt", str(number)])
        expect(got == correct, f"N = {number}: printed {got[:200]!r}, not {correct[:200]!r}")
