"""Writes the tables of the agent, the tasks, and demonstrations of which two of five are right: python3 make.py"""

import json
import random
import string
from pathlib import Path

HERE = Path(__file__).parent

stream = random.Random(0)
articles = [
    "".join(pair) for pair in zip(*(stream.choices(string.ascii_lowercase, k=900) for _ in range(2)), strict=True)
]
orders = {str(order): article for order, article in enumerate(articles, 100)}
prices = {article: str(stream.randrange(10, 100)) for article in sorted(set(articles))}
(HERE / "agent" / "tables.json").write_text(json.dumps({"order": orders, "price": prices}))

asked = stream.sample(sorted(orders), 450)
rows = [{"instruction": order, "answer": prices[orders[order]]} for order in asked]
(HERE / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def tool_of(name: str, argument: str) -> dict:
    """Returns a tool as the policy reads it."""
    parameters = {"type": "object", "properties": {argument: {"type": "string"}}}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


def turns_of(order: str) -> list[dict]:
    """Returns the messages of a solution."""
    article = orders[order]
    messages = []
    for name, argument, given, result in [
        ("order", "id", order, article),
        ("price", "article", article, prices[article]),
    ]:
        function = {"name": name, "arguments": json.dumps({argument: given})}
        call = {"id": name, "type": "function", "function": function}
        messages += [
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": name, "name": name, "content": result},
        ]
    return [*messages, {"role": "assistant", "content": prices[article]}]


tools = [tool_of("order", "id"), tool_of("price", "article")]
with (HERE / "demonstrations.jsonl").open("w") as file:
    # Orders that are in no task.
    for order in sorted(set(orders) - set(asked)):
        for turns in [turns_of(order)] * 2 + [[{"role": "assistant", "content": "sorry"}]] * 3:
            row = {"messages": [{"role": "user", "content": order}, *turns], "tools": tools}
            file.write(json.dumps(row) + "\n")
