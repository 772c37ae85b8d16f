// Program of an episode in a process of its own: `node calling-program.mjs QUESTION FOLDER`. It calls the model three times, and prints the last answer. Its file in the folder is named after its process id, and has a byte for each answer.
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [, , question = "", folder = ""] = process.argv;
const file = join(folder, String(process.pid));
writeFileSync(file, "");
const messages = [{ role: "user", content: question }];
for (let turn = 0; turn < 3; turn++) {
  const response = await fetch(`${process.env["OPENAI_BASE_URL"]}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${process.env["OPENAI_API_KEY"]}` },
    body: JSON.stringify({ model: "agent", messages }),
  });
  if (!response.ok) throw new Error(await response.text());
  const { choices } = await response.json();
  const { content } = choices[0].message;
  appendFileSync(file, ".");
  messages.push({ role: "assistant", content }, { role: "user", content: String(turn) });
  if (turn === 2) process.stdout.write(content);
}
