import { createServer } from "node:net";
import { expect, test } from "@jest/globals";
import { randomStream, textMessage } from "@mrlm/kit";
import type { Action, Observation, PolicyEpisode, PolicySource } from "@mrlm/spec";
import { z } from "zod";
import { policyContract, type PolicyContractOptions } from "../src/policy-contract/policy-contract.ts";

const answer = ({ agent }: Observation, text: string): Action => ({
  agent,
  message: textMessage("assistant", text),
  finishReason: "stop",
});

/** Policy that writes random letters of its option. */
function letters(changes: Partial<PolicySource<{ letters: string }>> = {}): PolicySource<never> {
  const source: PolicySource<{ letters: string }> = {
    options: z.strictObject({ letters: z.string().default("abc") }),
    open({ seed }, options) {
      const stream = randomStream("letters", seed);
      return { act: async (observation) => answer(observation, stream.pick([...options.letters])) };
    },
    ...changes,
  };
  return source as PolicySource<never>;
}

const turn = { messages: [textMessage("user", "go")] };
const options: Omit<PolicyContractOptions, "make"> = {
  name: "random letters",
  options: { letters: "abcdefgh" },
  observations: Array.from({ length: 8 }, () => turn),
};

policyContract({ ...options, make: () => letters() });

/** Returns the names of the tests that a source fails. */
async function failuresOf(source: PolicySource<never>): Promise<string[]> {
  const tests: [string, () => Promise<void>][] = [];
  const registry = {
    describe: (_name: string, body: () => void) => body(),
    test: (name: string, body: () => Promise<void>) => void tests.push([name, body]),
  };
  policyContract({ ...options, make: () => source, registry, timeoutMs: 400 });
  const failed: string[] = [];
  for (const [name, body] of tests) await body().catch(() => failed.push(name));
  return failed;
}

test("faults fail their checks", async () => {
  const shared = randomStream("shared", 1);
  const unseeded = letters({ open: () => ({ act: async (seen) => answer(seen, shared.pick(["a", "b", "c"])) }) });
  expect(await failuresOf(unseeded)).toEqual(["repeats an episode with the same seed"]);
  expect(await failuresOf(letters({ determinism: "none", open: unseeded.open as never }))).toEqual([]);
  const stranger = letters({ open: () => ({ act: async () => answer({ agent: "player", messages: [] }, "a") }) });
  expect(await failuresOf(stranger)).toEqual(["acts in each turn as the agent that is asked, in any role"]);
  expect(await failuresOf(letters({ options: z.object({ letters: z.string().default("a") }) as never }))).toEqual([
    "refuses options that it does not have",
  ]);
});

test("what remains after the close is found", async () => {
  const server = createServer();
  const holding = letters({
    open(episode: PolicyEpisode, given) {
      if (!server.listening) server.listen(0, "127.0.0.1");
      return letters().open(episode, given as never);
    },
  });
  expect(await failuresOf(holding)).toEqual(["closing it leaves no process, handle or file"]);
  server.close();
});
