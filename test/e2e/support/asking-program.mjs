// Program of an episode in a process of its own: the planner asks, and the helper answers with a tool, about a rewritten history and twice at once.
const { OPENAI_BASE_URL: url, OPENAI_API_KEY: key } = process.env;
const user = (content) => ({ role: "user", content });

async function ask(model, messages, more = {}) {
  const response = await fetch(`${url}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ model, messages, ...more }),
  });
  const body = await response.json();
  if (!response.ok) throw new Error(body.error.code);
  return body.choices[0].message;
}

const tools = [{ type: "function", function: { name: "look", description: "Looks.", parameters: { type: "object" } } }];
const { content: plan } = await ask("planner", [user("1")]);
const called = await ask("helper", [user("look")], { tools, max_tokens: 3 });
const result = { role: "tool", tool_call_id: called.tool_calls[0].id, content: "a cat" };
const seen = await ask("helper", [user("look"), called, result], { tools });
await ask("helper", [user("summary"), seen, user("more")], { tools });
await Promise.all(["2", "3"].map((text) => ask("helper", [user(text)], { tools })));
process.stdout.write(JSON.stringify([plan, called.tool_calls[0].function, seen.content]));
