import { callTools, definePlugin, observe, singleStep, toolset as toolsetOf, textMessage, toolCalls } from "@mrlm/kit";
import {
  type EnvironmentContext,
  type EnvironmentDefinition,
  type JsonObject,
  type Message,
  score,
  type TaskSource,
  type Tool,
  type ToolResult,
  type Toolset,
} from "@mrlm/spec";

const text = (line: string, isError = false): ToolResult => ({ content: [{ type: "text", text: line }], isError });

function tool(name: string, parameters: JsonObject, call: Tool["call"]): Tool {
  return { name, description: `Tool ${name} of the test.`, parameters, call };
}

const numbers: JsonObject = {
  type: "object",
  properties: { a: { type: "number" }, b: { type: "number" } },
  required: ["a", "b"],
  additionalProperties: false,
};

/** Counters of a test: what the environment did, and a door at which the tool `wait` stops. */
export class Watch {
  readonly calls: { readonly id: string; readonly name: string }[] = [];
  opened = 0;
  closed = 0;
  waiting = 0;
  /** Whether the toolset fails to open. */
  failsToOpen = false;
  #door = Promise.withResolvers<void>();

  open(): void {
    this.#door.resolve();
    this.#door = Promise.withResolvers();
  }

  async wait(signal: AbortSignal): Promise<void> {
    this.waiting++;
    const { promise, resolve } = Promise.withResolvers<void>();
    signal.addEventListener("abort", () => resolve(), { once: true });
    await Promise.race([this.#door.promise, promise]);
    this.waiting--;
  }
}

/** Toolset that opens its tools for one episode. The tool `grow` adds a tool. */
function toolset(watch: Watch): Toolset {
  return {
    async open() {
      if (watch.failsToOpen) throw new Error("the private words of a toolset");
      watch.opened++;
      const tools = [
        tool("add", numbers, async ({ a, b }) => text(String(Number(a) + Number(b)))),
        tool("picture", { type: "object" }, async () => ({
          content: [{ type: "image", mediaType: "image/png", source: { data: Uint8Array.of(1, 2, 3) } }],
          isError: false,
        })),
        tool("refuse", {}, async () => text("Not today.", true)),
        tool("break", { type: "object" }, async () => Promise.reject(new Error("the private words of a tool"))),
        tool("wait", { type: "object" }, async (_, { signal }) => {
          await watch.wait(signal);
          return text("waited");
        }),
        tool("long", { type: "object" }, async () => text("x".repeat(60_000))),
        tool("grow", { type: "object" }, async () => {
          tools.push(tool("extra", { type: "object" }, async () => text("extra")));
          return text("grown");
        }),
      ];
      return {
        tools,
        async close() {
          watch.closed++;
        },
      };
    },
  };
}

const tasks: TaskSource = {
  splits: { train: 1000, eval: 10 },
  get: async (split, index) => ({ id: `${split}/${index}`, public: { n: index }, private: { answer: 2 * index + 1 } }),
};

/** Adds two numbers, with tools. A call that is no answer costs 0.01. */
function sums(watch: Watch, id: string, tool: string): EnvironmentDefinition {
  return {
    id: `${id}@1`,
    description: "Sums of two numbers.",
    determinism: "full",
    requires: [`tool:${tool}@1`],
    maxTurns: 6,
    rewardComponents: ["correct"],
    tasks: () => tasks,
    create: (context: EnvironmentContext) => {
      let opened: { readonly tools: readonly Tool[] } = { tools: [] };
      let shown = 0;
      let expected = "";
      return {
        async reset({ task = "", seed = 0, signal }) {
          if (seed === 13) await new Promise((resolve) => signal.addEventListener("abort", resolve));
          opened = await context.tools(`${tool}@1`).open({ seed, signal });
          const n = Number(task.split("/")[1]);
          expected = String(2 * n + 1);
          shown = opened.tools.length;
          return observe([textMessage("system", "You add."), textMessage("user", `${n} + ${n + 1}? (seed ${seed})`)], {
            tools: opened.tools,
            info: { secret: "canary" },
          });
        },
        async step({ message }, options) {
          const calls = toolCalls(message);
          for (const { id: callId, name } of calls) watch.calls.push({ id: callId, name });
          if (calls.length === 0) return judged(message, expected);
          const messages = await callTools(opened.tools, message, options);
          const grew = opened.tools.length !== shown;
          shown = opened.tools.length;
          const result = singleStep({ messages, reward: score(-0.01), info: { secret: "canary" } });
          return grew ? { ...result, observation: { ...result.observation, tools: opened.tools } } : result;
        },
      };
    },
  };
}

/** The answer `again` gets a reply; every other one ends the episode. */
function judged(message: Message, expected: string) {
  const answer = message.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
  if (answer === "again") return singleStep({ messages: [textMessage("user", "Try again.")] });
  const correct = answer === expected ? 1 : 0;
  return singleStep({ reward: score(correct, { correct }), terminated: true });
}

/** Plugin with environments that a dialect can and cannot serve: with tools, without, of several roles, with a tool of a reserved name. */
export function sumsPlugin(watch: Watch) {
  const plain: EnvironmentDefinition = {
    id: "plain@1",
    description: "A question without tools.",
    determinism: "none",
    create: () => ({
      reset: async () => observe([textMessage("user", "Answer yes.")]),
      step: async ({ message }) => judged(message, "yes"),
    }),
  };
  return definePlugin({
    name: "sums",
    environments: [
      sums(watch, "sums", "sums"),
      sums(watch, "clash", "clash"),
      sums(watch, "route", "route"),
      plain,
      { ...plain, id: "duel@1", roles: { left: {}, right: {} } },
    ],
    tools: {
      "sums@1": () => toolset(watch),
      "route@1": () => toolsetOf([tool("verify", { type: "object" }, async () => text("never"))]),
      "clash@1": () => toolsetOf([tool("finish", { type: "object" }, async () => text("never"))]),
    },
  });
}
