import { argv } from "node:process";
import { createMrlm } from "@mrlm/ai-sdk";
import { answer } from "../agent.ts";
import plugin from "../orders.ts";

interface Body {
  readonly messages: readonly object[];
  readonly tools: readonly {
    readonly function: { readonly name: string; readonly parameters: { readonly properties: object } };
  }[];
}

/**
 * Returns conversations of the agent with another model, which answers `sorry`, as rows of chat data, one for each training task. The tools have names and arguments alone, which is
 * all that the template of the small model shows.
 */
export async function conversations(count: number): Promise<object[]> {
  const tasks = await plugin.environments?.[0]?.tasks?.({} as never, { digits: 3 });
  const rows: object[] = [];
  for (let i = 0; i < count; i++) {
    const send: typeof fetch = async (_, init) => {
      const { messages, tools } = JSON.parse(String(init?.body)) as Body;
      const message = { role: "assistant", content: "sorry" };
      const named = tools.map(({ function: { name, parameters } }) => ({
        type: "function",
        function: { name, parameters: { type: "object", properties: parameters.properties } },
      }));
      rows.push({ messages: [...messages, message], tools: named });
      return Response.json({ choices: [{ index: 0, finish_reason: "stop", message }] });
    };
    const task = await tasks?.get("train", i);
    const order = String(task?.public["order"]);
    await answer(createMrlm({ baseURL: "http://other.invalid/v1", fetch: send })("other"), order);
  }
  return rows;
}

if (argv[1] === import.meta.filename) for (const row of await conversations(400)) console.log(JSON.stringify(row));
