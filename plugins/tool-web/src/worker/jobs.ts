import type { PageSource } from "../page/convert-page.ts";
import type { ConvertedPage } from "../page/convert-text.ts";

/** Work of a worker thread, by name: its input and its output. */
export interface Jobs {
  convert: { input: PageSource; output: ConvertedPage };
  robots: { input: { file: string; text: string; page: string; userAgent: string }; output: boolean };
}

/** Message to a worker thread. */
export type JobMessage = {
  readonly [Name in keyof Jobs]: { readonly name: Name; readonly input: Jobs[Name]["input"] };
}[keyof Jobs];

/** First message of a worker thread, when its modules are loaded. */
export const READY = "ready";

/** Further message of a worker thread: the output of its job, or the text of the error. */
export type JobResult = { readonly output: Jobs[keyof Jobs]["output"] } | { readonly error: string };
