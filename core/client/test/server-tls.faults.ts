import { expect, test } from "@jest/globals";
import { randomStream } from "@mrlm/kit";
import { handshakeError, HANDSHAKE_FAULTS } from "./support/handshake-faults.ts";
import { rotate } from "./support/rotation.ts";

test.each(Object.entries(HANDSHAKE_FAULTS))("40 times %s: the client gets TLS_FAILED at once", async (name, draw) => {
  for (let i = 0; i < 40; i++) {
    const fault = draw(randomStream(name, i));
    const { message } = fault;
    expect([i, await handshakeError(fault)]).toMatchObject([
      i,
      {
        code: "TLS_FAILED",
        message: message instanceof RegExp ? expect.stringMatching(message) : expect.stringContaining(message),
      },
    ]);
  }
});

test("30 replacements of tokens and certificates under 64 clients that step: no client is refused", async () => {
  const outcome = await rotate(randomStream("rotation", 2), 64, 30);
  console.log(JSON.stringify({ ...outcome, errors: outcome.errors.length }));
  expect(outcome).toMatchObject({ errors: [], refusedTokens: 30, certificates: 30 });
}, 600_000);
