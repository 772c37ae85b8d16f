import { randomBytes } from "node:crypto";
import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { silentLogger } from "@mrlm/kit/service";
import { environmentProto as wire } from "@mrlm/wire";
import { ForwardedClient } from "../src/workers/forwarded-client.ts";
import { RoutedSessions } from "../src/workers/routed-sessions.ts";

const MIB = 1 << 20;

/** Client of a server process without workers, whose renewals name 40,000 unknown sessions. A stuck channel sends no response. */
function renewing({ isStuck }: { readonly isStuck: boolean }) {
  const reading: boolean[] = [];
  const failures: unknown[] = [];
  const unsent: (() => void)[] = [];
  const channel = {
    isStuck,
    bytes: 0,
    write(frame: Buffer, onSent: () => void): void {
      this.bytes += frame.length;
      unsent.push(onSent);
      if (!this.isStuck) setImmediate(() => this.send());
    },
    /** Sends what was written. */
    send: () => unsent.splice(0).forEach((onSent) => onSent()),
    pause: () => reading.push(false),
    resume: () => reading.push(true),
    emit: (_event: "error", status: unknown) => failures.push(status),
    end: () => undefined,
  };
  const sessions = new RoutedSessions(
    {
      expired: 0,
      environmentOf: (id) => ({ id, provider: "" }),
      assertOffered: () => undefined,
      choose: () => Promise.reject(new Error("There is no worker.")),
    },
    { leaseMs: 50 },
  );
  const server = { sessions, logger: silentLogger, maxMessageBytes: 64 * MIB };
  const { stream } = new ForwardedClient({ owner: "client" }, channel, server);
  const sessionIds = Array.from({ length: 40_000 }, () => randomBytes(16));
  const body = wire.RenewRequest.encode({ sessionIds }).finish();
  const renew = (id: number): void => stream.call({ requestId: BigInt(id), kind: "renew", body, trace: "" });
  return { stream, channel, reading, failures, renew };
}

test("responses of the server process to a client that reads nothing stop the reading of its requests, and end its stream after a lease", async () => {
  const { stream, channel, reading, failures, renew } = renewing({ isStuck: true });
  let requests = 0;
  while (reading.length === 0) {
    renew(++requests);
    await turn();
    await turn();
  }
  expect({ reading, requests }).toEqual({ reading: [false], requests: 14 });
  expect(stream.bufferedBytes).toBeLessThan(10 * MIB);
  channel.isStuck = false;
  while (stream.bufferedBytes > 0) {
    channel.send();
    await turn();
  }
  expect({ reading, waiting: stream.bufferedBytes }).toEqual({ reading: [false, true], waiting: 0 });
  channel.isStuck = true;
  for (let i = 0; i < 14; i++) renew(++requests);
  while (failures.length === 0) await turn();
  expect(failures).toMatchObject([
    { details: expect.stringContaining("The client read no responses for 0.05 s while more than 8 MiB waited") },
  ]);
  stream.leave();
});

test("a client that reads is read again when more than the limit were written at once", async () => {
  const { stream, reading, channel, renew } = renewing({ isStuck: false });
  for (let i = 1; i <= 14; i++) renew(i);
  expect(reading).toEqual([false]);
  while (channel.bytes < 9 * MIB) await turn();
  expect({ reading, waiting: stream.bufferedBytes }).toEqual({ reading: [false, true], waiting: 0 });
  stream.leave();
});
