import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "@jest/globals";
import { randomStream } from "@mrlm/kit";
import { MrlmError } from "@mrlm/spec";
import { serve } from "../../src/commands/serve.ts";
import { createConsole } from "../../src/console/console.ts";
import { declareServe } from "../../src/declarations/serve.ts";
import type { Draws, RefusedOptions } from "./access-faults.ts";
import { parseOptions } from "./parse-options.ts";

/** Calls `mrlm serve` with the options of a number of cases, and checks its error: code, message and hint. No file's content may stand in it. */
export async function expectRefusals(
  name: string,
  cases: number,
  draw: (draws: Draws) => RefusedOptions,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "mrlm-access-"));
  try {
    for (let i = 0; i < cases; i++) {
      const contents: string[] = [];
      const file = (content: string): string => {
        const path = join(folder, `${i}-${contents.push(content)}`);
        writeFileSync(path, content);
        return path;
      };
      const { options, code, message } = draw({ random: randomStream(name, i), file, folder });
      const context = { console: createConsole({ json: true }), directory: folder };
      const served = async (): Promise<void> => serve(context, parseOptions(declareServe, { port: "0", ...options }));
      const error: unknown = await served().catch((thrown: unknown) => thrown);
      if (!MrlmError.isInstance(error)) throw new Error(`Case ${i} was not refused.`, { cause: error });
      expect([i, error.code]).toEqual([i, code]);
      for (const part of message)
        expect(error.message).toEqual(
          part instanceof RegExp ? expect.stringMatching(part) : expect.stringContaining(part),
        );
      expect(error.hint).not.toBe("");
      const secrets = contents.join(" ").match(/[0-9a-f]{32,}/g) ?? [];
      for (const secret of secrets) expect(`${error.message} ${error.hint}`).not.toContain(secret);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
