import { type JsonObject, type Reward, score, type Scorer, toolset, type Tool, type Toolset } from "@mrlm/kit";
import { type BareEnvironment, bareEnvironment } from "@mrlm/testing";
import { research } from "../../src/index.ts";
import type { ResearchOptions } from "../../src/options.ts";

/** Scorer that looks for the answer between its tags; with `reward` it returns that one. */
export const tagged = (reward?: Reward): Scorer => ({
  score: async ({ answer, expected }) => ({
    reward: reward ?? score(Number(answer === `<answer>${expected}</answer>`)),
    verdict: "compared",
    reason: "compared as text",
  }),
});

/** Search over the pages of a task: pages whose text has a word of the query. */
const search: Toolset = {
  open: async ({ files = {} }) => {
    const pages = Object.entries(files).map(([name, text]) => ({
      url: `https://corpus.invalid/${name}`,
      text: String(text),
    }));
    const tool = (name: string, key: string, call: (given: string) => string): Tool => ({
      name,
      description: name,
      parameters: { type: "object", properties: { [key]: { type: "string" } } },
      call: async (given) => ({ content: [{ type: "text", text: call(String(given[key])) }], isError: false }),
    });
    const found = (query: string) => pages.filter(({ text }) => text.startsWith(`# ${query}\n`));
    return toolset([
      tool("search", "query", (query) =>
        found(query)
          .map(({ url }) => url)
          .join("\n"),
      ),
      tool("fetch", "url", (url) => pages.find((page) => page.url === url)?.text ?? "none"),
    ]).open({} as never);
  },
};

/** Prepares the environment with a search in this process. */
export function prepare(given: JsonObject = {}, scorer = tagged()): Promise<BareEnvironment<ResearchOptions>> {
  return bareEnvironment(research, given, { tools: { "web@1": search }, scorers: { "math@2": scorer } });
}
