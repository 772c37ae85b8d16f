import { createRequire } from "node:module";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { openEpisodeTools } from "@mrlm/runtime";
import type { OpenToolset } from "@mrlm/spec";
import { barePluginContext } from "@mrlm/testing";
import { mcpOptions } from "../../plugins/tool-mcp/src/options.ts";
import { McpToolset } from "../../plugins/tool-mcp/src/toolset.ts";
import { Durations, Rate, round } from "./measure.ts";

const CALLERS = 8;
const never = new AbortController().signal;
const ROUNDS = 5;

const command = process.execPath;
const args = [createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/dist/index.js"), "stdio"];

type Call = (message: string) => Promise<unknown>;

/** Way to call the tool `echo` of the server: for one caller, and for several at the same time. */
interface Way {
  readonly call: Call;
  readonly calls: readonly Call[];
  close(): Promise<void>;
}

/** Measures calls as an environment makes them, with the host's checks and limits, and through the official client, in turn, of the same server. */
export async function mcpFigures(seconds: number): Promise<Record<string, number>> {
  const bare = await bareWay();
  const pooled = await toolWay(true);
  const begun = performance.now();
  const unpooled = await toolWay(false);
  const startSeconds = (performance.now() - begun) / 1000;
  const ways = { bare, pooled, unpooled };
  const names = ["bare", "pooled", "unpooled"] as const;
  const rates = { bare: new Rate(), pooled: new Rate(), unpooled: new Rate() };
  const durations = { bare: new Durations(), pooled: new Durations(), unpooled: new Durations() };
  try {
    for (let round = 0; round <= ROUNDS; round++) {
      // The first round warms the programs up.
      const share = round === 0 ? seconds / 2 : seconds / ROUNDS;
      const isMeasured = round > 0;
      for (const name of round % 2 === 0 ? names : names.toReversed()) {
        const { call, calls } = ways[name];
        const end = performance.now() + share * 1000;
        const alone = isMeasured ? durations[name] : new Durations();
        for (let i = 0; performance.now() < end; i++) await alone.measure(() => call(`hello ${i}`));
        const rate = isMeasured ? rates[name] : new Rate();
        await rate.measure(
          calls.map((each) => () => each("hello")),
          share,
        );
      }
    }
    const overhead = (name: "pooled" | "unpooled", share: number): number =>
      round(durations[name].at(share) - durations.bare.at(share), 3);
    return {
      calls_per_s_mcp: round(rates.unpooled.perSecond, 0),
      calls_per_s_mcp_pooled: round(rates.pooled.perSecond, 0),
      calls_per_s_mcp_bare: round(rates.bare.perSecond, 0),
      p50_ms_mcp_bare: round(durations.bare.at(0.5), 3),
      p99_ms_mcp_bare: round(durations.bare.at(0.99), 3),
      overhead_p50_ms_mcp: overhead("unpooled", 0.5),
      overhead_p99_ms_mcp: overhead("unpooled", 0.99),
      overhead_p50_ms_mcp_pooled: overhead("pooled", 0.5),
      overhead_p99_ms_mcp_pooled: overhead("pooled", 0.99),
      episodes_per_s_mcp: round((CALLERS + 1) / startSeconds),
    };
  } finally {
    await Promise.all([bare, pooled, unpooled].map((way) => way.close()));
  }
}

/** The official client, with one server for all callers, as the pool has. */
async function bareWay(): Promise<Way> {
  const client = new Client({ name: "bench", version: "0.1.0" });
  await client.connect(new StdioClientTransport({ command, args, stderr: "ignore" }));
  // As a host does: the client then knows the schemas of the tools.
  await client.listTools();
  const call: Call = async (message) => {
    const result = await client.callTool({ name: "echo", arguments: { message } });
    if (result.isError === true) throw new Error(JSON.stringify(result));
  };
  return { call, calls: Array.from({ length: CALLERS }, () => call), close: () => client.close() };
}

/** Episodes of the toolset. `shared`: one server for all; otherwise each episode has its own. */
async function toolWay(shared: boolean): Promise<Way> {
  const context = barePluginContext();
  const options = mcpOptions.parse({
    mcpServers: { everything: { command, args } },
    servers: { everything: { shared, tools: ["echo"] } },
  });
  const toolset = await McpToolset.create(context, options);
  const opened: OpenToolset[] = [];
  const [first, ...others] = await Promise.all(
    Array.from({ length: CALLERS + 1 }, async (): Promise<Call> => {
      const episode = await openEpisodeTools(toolset, { seed: null, signal: never });
      opened.push(episode);
      const [tool] = episode.tools;
      return async (message) => {
        const result = await tool?.call({ message }, { signal: never });
        if (result?.isError !== false) throw new Error(JSON.stringify(result));
      };
    }),
  );
  return {
    call: first as Call,
    calls: others,
    close: async () => {
      await Promise.all(opened.map((each) => each.close()));
      await toolset.close();
    },
  };
}
