import { afterAll, expect, test } from "@jest/globals";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { observe, singleStep, textMessage } from "@mrlm/kit";
import { characterTokenizerFiles } from "@mrlm/kit/renderer";
import { type Message, score, type ToolDefinition } from "@mrlm/spec";
import { checkTemplates } from "../src/prepare/check-prompts.ts";
import { counterEnvironment, never } from "./support/counter-environment.ts";
import { CONFIG, prepare, removeTemporaryDirectories, temporaryDirectory } from "./support/training.ts";

afterAll(removeTemporaryDirectories);

/** Users and answers in turn, no system message, no tools. */
const IN_TURN =
  "{% for message in messages %}{% if (message.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Roles must alternate') }}{% endif %}" +
  "{{ '<|' + message.role + '|>' + message.content + '<|end|>' }}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}";
/** The same with tools, whose results it refuses. */
const NO_RESULTS = `{% if tools %}{{ tools | tojson }}{% endif %}${IN_TURN}`;
const TOOL: ToolDefinition = { name: "find", description: "", parameters: { type: "object" } };
const user = textMessage("user", "a");

async function check(
  messages: readonly Message[],
  {
    template = IN_TURN,
    tools,
    ...keys
  }: Readonly<Record<string, unknown>> & {
    readonly template?: string;
    readonly tools?: readonly ToolDefinition[];
  } = {},
): Promise<void> {
  const tokenizer = temporaryDirectory();
  for (const [name, content] of Object.entries(characterTokenizerFiles()))
    writeFileSync(join(tokenizer, name), content);
  writeFileSync(join(tokenizer, "chat_template.jinja"), template);
  let resets = 0;
  const asking = counterEnvironment({
    id: "asking@1",
    options: undefined,
    create: () => ({
      reset: async () => (resets++, { ...observe(messages), ...(tools === undefined ? {} : { tools }) }),
      step: async () => singleStep({ reward: score(0), terminated: true }),
    }),
  });
  const model = { random: { config: { initializer_range: 0.5 }, tokenizer }, ...keys };
  const { prepared, host } = await prepare({ ...CONFIG, model, environments: [{ id: "asking" }] }, asking);
  await checkTemplates(prepared, host, never).finally(() => void host.close());
  // Training and evaluation play the same environment.
  expect(resets).toBe(1);
}

test.each([
  ["a system message", [textMessage("system", "s"), user]],
  ["two messages of the user in a row", [user, user]],
])("a template that refuses %s is found without an engine, with what to set", async (_, messages) => {
  await expect(check(messages)).rejects.toMatchObject({
    code: "TOKENIZER_INVALID",
    message: expect.stringMatching(/^The prompt of task train\/0 of asking@1 cannot be rendered\. .*alternate/),
    hint: expect.stringMatching(/^Set `model\.merge_messages: true`/),
  });
  await check(messages, { merge_messages: true });
});

test("N9: a template without tools is found without an engine, with what to set", async () => {
  await expect(check([user], { tools: [TOOL] })).rejects.toMatchObject({
    code: "TOOLS_UNSUPPORTED",
    hint: expect.stringMatching(/^Set `model\.tool_format`/),
  });
  await check([user], { tools: [TOOL], tool_format: "hermes" });
  await check([textMessage("system", "s"), user], { tools: [TOOL], tool_format: "hermes", merge_messages: true });
});

test("a template that refuses the result of a tool is found before a tool is called", async () => {
  await expect(check([user], { template: NO_RESULTS, tools: [TOOL] })).rejects.toMatchObject({
    code: "TOKENIZER_INVALID",
    message: expect.stringContaining("Roles must alternate"),
  });
});

test("an environment that fails is left to the run", async () => {
  const failing = counterEnvironment({
    id: "failing@1",
    options: undefined,
    create: () => ({ reset: () => Promise.reject(new Error("gone")), step: () => Promise.reject(new Error("gone")) }),
  });
  const { prepared, host } = await prepare({ ...CONFIG, environments: [{ id: "failing" }] }, failing);
  await checkTemplates(prepared, host, never);
  await host.close();
});
