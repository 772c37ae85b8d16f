import type { JsonObject, Sandbox } from "@mrlm/kit";
import { type BareEnvironment, bareEnvironment } from "@mrlm/testing";
import { code } from "../../src/index.ts";
import type { CodeOptions } from "../../src/options.ts";

export type Prepared = BareEnvironment<CodeOptions>;

/** Prepares the environment under some options; every language is run by the one sandbox. */
export function prepare(given: JsonObject, sandbox: Sandbox): Promise<Prepared> {
  return bareEnvironment(code, given, { sandboxes: { python: sandbox, javascript: sandbox } });
}
