import type { Toolset } from "@mrlm/kit";

const { signal } = new AbortController();

/** Evaluates an expression in an episode of its own. */
export async function evaluateIn(
  toolset: { open(): ReturnType<Toolset["open"]> },
  expression: string,
): Promise<{ readonly text: string; readonly isError: boolean }> {
  const { tools, close } = await toolset.open();
  const { content, isError } = await tools[0]!.call({ expression }, { signal });
  await close();
  const [part] = content;
  return { text: part?.type === "text" ? part.text : "", isError };
}
