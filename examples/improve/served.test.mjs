// A test of vitest: a served model, such as that of `mrlm improve`, still sends new messages to the right team. `npx vitest run` asks OPENAI_BASE_URL.
import { expect, test } from "vitest";

const messages = {
  billing: ["You took the money twice.", "I need an invoice with our tax number."],
  delivery: ["Where is my parcel?", "The courier never came."],
  returns: ["The coat is too big, I will send it back.", "Can I swap the lamp for a smaller one?"],
  account: ["I lost my password.", "How do I delete my profile?"],
  bug: ["The app closes when I press save.", "The page shows an error when I search."],
  praise: ["You were a great help, thank you!", "I love these cups."],
};
const cases = Object.entries(messages).flatMap(([team, texts]) => texts.map((text) => ({ team, text })));

async function ask(text) {
  const content = `Which team is this message for: ${Object.keys(messages).join(", ")}? Answer with one word.\n\n${text}`;
  const response = await fetch(`${process.env.OPENAI_BASE_URL}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${process.env.OPENAI_API_KEY ?? ""}` },
    body: JSON.stringify({
      model: process.env.MODEL ?? "policy",
      messages: [{ role: "user", content }],
      temperature: 0,
    }),
  });
  return (await response.json()).choices[0].message.content.trim().toLowerCase();
}

test("two of three new messages reach their team", async () => {
  const answers = await Promise.all(cases.map(({ text }) => ask(text)));
  const right = cases.filter(({ team }, i) => answers[i] === team);
  expect(right.length / cases.length).toBeGreaterThanOrEqual(2 / 3);
});
