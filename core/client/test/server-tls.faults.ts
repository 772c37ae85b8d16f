import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { randomStream } from "@mrlm/kit";
import { connectEnvironments } from "../src/index.ts";
import { authority, handshakeError, HANDSHAKE_FAULTS, serveCounting } from "./support/handshake-faults.ts";
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

test("600 connections that are no handshake, or end within one: the server serves others", async () => {
  const server = await serveCounting(authority.issue());
  const random = randomStream("no handshake", 1);
  for (let round = 0; round < 10; round++) {
    await Promise.all(
      Array.from({ length: 60 }, async () => {
        const socket = connect(server.port, "127.0.0.1");
        socket.on("error", () => undefined);
        await once(socket, "connect");
        // A record of a handshake begins with 22, 3, 1.
        const start = random.pick([[], [22, 3, 1], [22, 3, 1, 2, 0, 1]]);
        const bytes = Buffer.from([
          ...start,
          ...Array.from({ length: random.integer(0, 600) }, () => random.integer(0, 255)),
        ]);
        socket.write(
          random.pick([bytes, Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), Buffer.from("GET / HTTP/1.1\r\n\r\n")]),
        );
        await random.pick([() => sleep(5), () => undefined])();
        if (random.integer(0, 1) === 0) socket.destroy();
        else socket.end();
      }),
    );
    const host = await connectEnvironments(`127.0.0.1:${server.port}`, { tls: { ca: authority.cert } });
    expect(await host.list()).toHaveLength(1);
    await host.close();
  }
  await server.close();
});

test("30 replacements of tokens and certificates under 64 clients that step: no client is refused", async () => {
  const outcome = await rotate(randomStream("rotation", 2), 64, 30);
  console.log(JSON.stringify({ ...outcome, errors: outcome.errors.length }));
  expect(outcome).toMatchObject({ errors: [], refusedTokens: 30, certificates: 30 });
}, 600_000);
