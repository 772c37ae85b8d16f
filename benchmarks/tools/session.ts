import { LocalHost, PluginHost } from "@mrlm/runtime";
import type { JsonObject, Plugin, ToolResultPart } from "@mrlm/spec";
import type { EnvironmentSession } from "@mrlm/spec/host";
import { callsPlugin } from "./environment.ts";

const never = new AbortController().signal;

/** Opens a host with the environment of this benchmark and the given plugins. */
export async function openHost(
  // Each has options of its own type.
  // oxlint-disable-next-line typescript/no-explicit-any
  plugins: readonly Plugin<any>[],
  options: Readonly<Record<string, JsonObject>> = {},
): Promise<LocalHost> {
  return new LocalHost({ source: await PluginHost.of([callsPlugin, ...plugins], { plugins: options }) });
}

/** Opens a session with an episode that has the tools. */
export async function openEpisode(host: LocalHost, toolsets: readonly string[], files = false): Promise<Episode> {
  const session = await host.open({ id: "calls@1", options: { toolsets: [...toolsets], files } });
  await session.reset({ signal: never });
  return new Episode(session);
}

/** Episode whose steps are tool calls. */
export class Episode {
  readonly #session: EnvironmentSession;
  #calls = 0;

  constructor(session: EnvironmentSession) {
    this.#session = session;
  }

  /** Calls a tool in one step. Returns the text of the result; throws for a result with `isError` and for an unscored step. */
  async call(name: string, args: JsonObject): Promise<string> {
    const id = String(this.#calls++).padStart(9, "0");
    const { observation, rewards } = await this.#session.step(
      {
        agent: "agent",
        message: { role: "assistant", parts: [{ type: "tool-call", id, name, arguments: args }] },
        finishReason: "stop",
      },
      { signal: never },
    );
    const part = observation.messages[0]?.parts[0] as ToolResultPart | undefined;
    if (part?.type !== "tool-result" || part.isError)
      throw new Error(`${name} failed: ${JSON.stringify(part ?? rewards).slice(0, 500)}`);
    return part.content.map((each) => (each.type === "text" ? each.text : "")).join("");
  }

  async close(): Promise<void> {
    await this.#session.close();
  }
}
