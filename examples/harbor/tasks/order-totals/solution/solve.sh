#!/bin/bash
cat > /app/totals.py <<'END'
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    last = {order["id"]: order for order in json.load(file)}
cents = {}
for order in last.values():
    if order.get("status") != "cancelled":
        total = sum(int(line["price"].replace(".", "")) * line["count"] for line in order["lines"])
        total = (total * (100 - order.get("discount_percent", 0)) + 50) // 100
        cents[order["customer"]] = cents.get(order["customer"], 0) + total
print(json.dumps({name: f"{total // 100}.{total % 100:02}" for name, total in sorted(cents.items())}))
END
