import { describe, expect, test } from "@jest/globals";
import { callMessage, type JsonObject, type Message, textMessage } from "@mrlm/kit";
import type { AgentDefinition, AgentModel } from "../../src/agent.ts";
import { environment } from "./support/play.ts";

const lookup = { type: "function", function: { name: "lookup", parameters: { type: "object", properties: {} } } };

async function ask(model: AgentModel, messages: readonly object[], more: object = { tools: [lookup] }): Promise<any> {
  const response = await model.fetch(`${model.baseURL}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${model.apiKey}` },
    body: JSON.stringify({ model: model.name, messages, ...more }),
  });
  return ((await response.json()) as any).choices[0].message;
}

/** Agent that calls its tool until the model answers. */
async function agent(model: AgentModel): Promise<string> {
  const messages: object[] = [{ role: "user", content: "Q" }];
  for (;;) {
    const message = await ask(model, messages);
    messages.push(message);
    if (message.tool_calls === undefined) return message.content;
    for (const { id } of message.tool_calls) messages.push({ role: "tool", tool_call_id: id, content: "found" });
  }
}

const demonstrate = async (
  answers: readonly (string | Message)[],
  run: AgentDefinition<unknown, JsonObject, JsonObject>["run"] = ({ model }) => agent(model),
) => {
  const definition = environment({ run, solve: () => answers });
  const context = { tasks: await definition.tasks?.({} as never, {}) };
  return definition.demonstrate?.(context as never, {}, "train/0");
};

describe("the worked solution of a program", () => {
  test("has what the program sends and receives with its answers", async () => {
    const call = callMessage("lookup", { key: "a" });
    const shown = await demonstrate([call, "A"]);
    expect(shown).toMatchObject({ task: "train/0", agent: "agent", tools: [{ name: "lookup" }] });
    expect(shown?.messages).toMatchObject([
      textMessage("user", "Q"),
      call,
      { role: "tool", parts: [{ type: "tool-result", id: "1", content: [{ text: "found" }] }] },
      textMessage("assistant", "A"),
    ]);
  });

  test("is refused if the program makes more or fewer calls", async () => {
    await expect(demonstrate([callMessage("lookup")])).rejects.toMatchObject({
      code: "PLUGIN_INVALID",
      message: expect.stringContaining("another call after 1 answers"),
    });
    await expect(demonstrate(["A", "B"])).rejects.toThrow("ends after 1 of 2 answers");
  });

  test("is refused if the program begins another conversation or changes its tools", async () => {
    const twice = (second: readonly object[], more?: object) =>
      demonstrate(["A", "B"], async ({ model }) => {
        await ask(model, [{ role: "user", content: "Q" }]);
        await ask(model, second, more);
      });
    const begins = "call 2 begins another conversation or has other tools";
    await expect(twice([{ role: "user", content: "R" }])).rejects.toThrow(begins);
    const continued = [
      { role: "user", content: "Q" },
      { role: "assistant", content: "A" },
      { role: "user", content: "R" },
    ];
    await expect(twice(continued, {})).rejects.toThrow(begins);
  });

  test("a definition without it has no demonstrations", () => {
    expect(environment({ run: () => null }).demonstrate).toBeUndefined();
  });
});
