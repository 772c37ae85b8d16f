import { generateText, type LanguageModel } from "ai";

/** Procedure of each department. */
export const PROCEDURES: Readonly<Record<string, string>> = { b: "3", d: "1", p: "4", r: "2" };

/** A planner names the department for a complaint; a worker, which reads the department alone, names its procedure. */
export async function handle(
  complaint: string,
  models: { readonly planner: LanguageModel; readonly worker: LanguageModel },
  abortSignal: AbortSignal,
): Promise<{ readonly department: string; readonly procedure: string | null }> {
  const shared = { maxRetries: 0, abortSignal };
  const { text: department } = await generateText({ model: models.planner, prompt: complaint, ...shared });
  if (PROCEDURES[department] === undefined) return { department, procedure: null };
  const { text: procedure } = await generateText({ model: models.worker, prompt: department, ...shared });
  return { department, procedure };
}
