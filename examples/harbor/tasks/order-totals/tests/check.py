import json
import random

rng = random.Random(8)
for case in range(5):
    orders = []
    for _ in range(60 if case else 0):
        order = {"id": rng.randrange(40), "customer": rng.choice(["ann", "bob", "z\u00fcrich", "Bob", "q\"x"]), "lines": []}
        if rng.random() < 0.6:
            order["status"] = rng.choice(["paid", "cancelled", "open", "Cancelled"])
        if rng.random() < 0.6:
            order["discount_percent"] = rng.choice([0, 5, 15, 50, 33, 100])
        for _ in range(rng.randrange(4)):
            order["lines"].append({"price": f"{rng.choice([0, 1, 19, 10**12])}.{rng.randrange(100):02}", "count": rng.choice([0, 1, 3, 7])})
        orders.append(order)
    last = {order["id"]: order for order in orders}
    cents = {}
    for order in last.values():
        if order.get("status") == "cancelled":
            continue
        total = sum(int(line["price"].replace(".", "")) * line["count"] for line in order["lines"])
        total = (total * (100 - order.get("discount_percent", 0)) * 2 + 100) // 200
        cents[order["customer"]] = cents.get(order["customer"], 0) + total
    correct = {name: f"{total // 100}.{total % 100:02}" for name, total in sorted(cents.items())}
    root = fresh({"orders.json": json.dumps(orders, ensure_ascii=case % 2 == 0)})
    got = output(["/usr/bin/python3", "/app/totals.py", f"{root}/orders.json"])
    try:
        found = json.loads(got)
    except ValueError as error:
        raise Wrong(f"printed no JSON: {got[:200]!r}") from error
    expect(found == correct and list(found) == list(correct), f"case {case}: printed {found}, not {correct}")
