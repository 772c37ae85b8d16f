import { setTimeout as sleep } from "node:timers/promises";
import type { Answer, ChildRequest, ChildResult } from "@mrlm/sandbox/child";
import type { JsonValue, SandboxError } from "@mrlm/spec";
import type ivm from "isolated-vm";
import { Ended } from "./ended.ts";
import { Lifetime } from "./lifetime.ts";
import { Player, Uncaught } from "./player.ts";

type CallResult = { readonly value?: JsonValue; readonly shown: string } | { readonly threw: SandboxError };

/** Runs a program until nothing of it waits any more, or a function of it until it has a result. */
export async function runSubmission(request: ChildRequest & { readonly op: "run" }, answer: Answer, snapshot: ivm.ExternalCopy<ArrayBuffer>): Promise<ChildResult> {
  const { submission, limits } = request;
  const { call } = submission;
  const lifetime = new Lifetime(limits.wallMs);
  let player: Player | undefined;
  try {
    player = new Player({ snapshot, submission, limits, lifetime, answer });
    player.load(call === undefined ? [] : [call.name]);
    let isCalled = false;
    for (;;) {
      const { ran, nextMs, isBound = false } = player.tick();
      if (call !== undefined && isBound && !isCalled) {
        isCalled = true;
        player.call("start", call.name, JSON.stringify(call.arguments));
        continue;
      }
      const result = isCalled ? readResult(player.call<string>("result", limits.outputBytes)) : undefined;
      if (result !== undefined) return "threw" in result ? { verdict: "error", error: player.uncaught(result.threw).error } : { verdict: "ok", ...result };
      if (ran) continue;
      if (nextMs < 0) return ranOut(call?.name, isBound);
      if (nextMs > 0) await sleep(Math.min(nextMs, lifetime.leftMs));
    }
  } catch (error) {
    if (error instanceof Ended) return error.result;
    if (error instanceof Uncaught) return { verdict: "error", error: error.error };
    throw error;
  } finally {
    player?.release();
  }
}

function readResult(text: string): CallResult | undefined {
  return text === "" ? undefined : (JSON.parse(text) as CallResult);
}

/** Nothing waits for a timer any more. */
function ranOut(name: string | undefined, isBound: boolean): ChildResult {
  if (name === undefined && isBound) return { verdict: "ok" };
  const what = isBound ? `The promise that ${name} returned` : "A promise that the top-level code awaits";
  const message = `${what} never settles: nothing is left that could settle it.`;
  return { verdict: "error", error: { name: "Error", message, trace: `Error: ${message}` } };
}
