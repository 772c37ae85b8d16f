import type { JsonObject, Plugin, Scorer } from "@mrlm/kit";

/**
 * Returns the plugin that provides `scorer:math@2`. It is found by name when the test runs, as a host finds it: no
 * plugin imports another. The name is a variable for that reason.
 */
export async function scorerPlugin(): Promise<Plugin> {
  const provider: string = "@mrlm/scorer-math";
  const { default: plugin } = (await import(provider)) as { default: Plugin };
  return plugin;
}

/** Returns the scorer itself. */
export async function mathScorer(options: JsonObject = {}): Promise<Scorer> {
  const { scorers } = await scorerPlugin();
  return (await scorers?.["math@2"]?.(undefined as never, options)) as Scorer;
}
