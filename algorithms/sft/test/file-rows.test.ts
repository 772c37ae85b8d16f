import { expect, test } from "@jest/globals";
import { type JsonValue, textMessage } from "@mrlm/kit/learning";
import { characterTokenizerFiles, chatRenderer } from "@mrlm/kit/renderer";
import { checkFileRows, readFileRows } from "../src/file-rows.ts";

const TEMPLATE =
  "{{ tools | tojson if tools else '' }}{% for message in messages %}{{ '<|' + message.role + '|>' + message.content + '<|end|>' }}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}";
const renderer = chatRenderer({
  tokenizerFiles: { ...characterTokenizerFiles(), "chat_template.jinja": new TextEncoder().encode(TEMPLATE) },
  eosTokenIds: [],
});
const tools = [{ name: "add", description: "Adds.", parameters: { type: "object" } }];
const listed = tools.map((each) => ({ type: "function", function: each }));

test("tools of a row are in its prompt, whatever form they have", () => {
  const [user, assistant] = [textMessage("user", "1+1"), textMessage("assistant", "2")];
  const messages = [
    { role: "user", content: "1+1" },
    { role: "assistant", content: "2" },
  ];
  const values: JsonValue[] = [
    { messages, tools: listed },
    { prompt: "1+1", completion: "2", tools: JSON.stringify(listed) },
    { messages },
  ];
  const { rows } = readFileRows(values, "data.jsonl", renderer, undefined);
  const [offered, plain] = [renderer.supervise([user, assistant], tools), renderer.supervise([user, assistant])];
  expect(rows.map(({ sequences }) => sequences)).toEqual([offered, offered, plain]);
  expect(renderer.decode(offered[0]?.tokens as Int32Array)).toContain('"add"');
});

test("tools of another form are refused with the place of the row", () => {
  const row = { prompt: "1+1", completion: "2", tools: [{ name: 1 }] };
  expect(() => checkFileRows([row], "data.jsonl", undefined)).toThrow(/^data\.jsonl:1 is neither/);
});
