import { randomBytes } from "node:crypto";
import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { silentLogger } from "@mrlm/kit/service";
import { environmentProto as wire } from "@mrlm/wire";
import { ForwardedClient } from "../src/workers/forwarded-client.ts";
import { RoutedSessions } from "../src/workers/routed-sessions.ts";

const MIB = 1 << 20;

/** Client of a server process without workers, whose renewals name 40,000 unknown sessions. A stuck client accepts no response. */
function renewing({ isStuck }: { readonly isStuck: boolean }) {
  const reading: boolean[] = [];
  const failures: (string | Error)[] = [];
  const sink = {
    isStuck,
    bytes: 0,
    write(frame: Buffer): boolean {
      this.bytes += frame.length;
      return !this.isStuck;
    },
    read: (isReading: boolean) => void reading.push(isReading),
    fail: (failure: string | Error) => void failures.push(failure),
    end: () => undefined,
  };
  const sessions = new RoutedSessions(
    {
      environmentOf: (id) => ({ id, provider: "" }),
      assertOffered: () => undefined,
      choose: () => Promise.reject(new Error("There is no worker.")),
    },
    { leaseMs: 50 },
  );
  const client = new ForwardedClient({ owner: "client" }, sink, {
    sessions,
    logger: silentLogger,
    maxMessageBytes: 64 * MIB,
  });
  const sessionIds = Array.from({ length: 40_000 }, () => randomBytes(16));
  const body = wire.RenewRequest.encode({ sessionIds }).finish();
  return { client, sink, reading, failures, renew: (id: number) => client.begin(BigInt(id), "renew", body) };
}

test("responses of the server process to a client that reads nothing stop the reading of its requests, and end its stream after a lease", async () => {
  const { client, sink, reading, failures, renew } = renewing({ isStuck: true });
  let requests = 0;
  while (reading.length === 0) {
    renew(++requests);
    await turn();
    await turn();
  }
  expect({ reading, requests }).toEqual({ reading: [false], requests: 13 });
  expect(client.bufferedBytes).toBeLessThan(10 * MIB);
  sink.isStuck = false;
  client.drained();
  expect({ reading, waiting: client.bufferedBytes }).toEqual({ reading: [false, true], waiting: 0 });
  sink.isStuck = true;
  for (let i = 0; i < 14; i++) renew(++requests);
  while (failures.length === 0) await turn();
  expect(failures).toMatchObject([
    { code: "SERVER_UNAVAILABLE", message: /^The client read no responses for 0\.05 s while more than 8 MiB waited/ },
  ]);
  client.gone();
});

test("a client that reads is read again when more than the limit were written at once", async () => {
  const { client, reading, sink, renew } = renewing({ isStuck: false });
  for (let i = 1; i <= 14; i++) renew(i);
  expect(reading).toEqual([false]);
  while (sink.bytes < 9 * MIB) await turn();
  expect({ reading, waiting: client.bufferedBytes }).toEqual({ reading: [false, true], waiting: 0 });
  client.gone();
});
