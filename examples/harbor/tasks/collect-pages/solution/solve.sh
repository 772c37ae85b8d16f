#!/bin/bash
cat > /app/collect.py <<'END'
import json
import sys
import time
from urllib.error import HTTPError
from urllib.parse import urljoin
from urllib.request import urlopen


def get(url):
    for _ in range(5):
        try:
            with urlopen(url) as answer:
                return json.loads(answer.read())
        except HTTPError as error:
            if error.code != 503:
                raise
            time.sleep(float(error.headers.get("Retry-After", 0.5)))
    raise SystemExit(1)


url, seen, first = sys.argv[1], set(), {}
try:
    while url is not None:
        if url in seen:
            sys.exit(1)
        seen.add(url)
        page = get(url)
        for item in page["items"]:
            first.setdefault(item["id"], item)
        url = urljoin(url, page["next"]) if page.get("next") is not None else None
    print(sum(item["amount"] for item in first.values() if item["state"] == "open"))
except (HTTPError, ValueError, KeyError, TypeError):
    sys.exit(1)
END
