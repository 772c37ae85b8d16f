import { randomBytes } from "node:crypto";
import { afterEach, expect, test } from "@jest/globals";
import { type EnvironmentServer, serveEnvironments, startWorkers, type WorkerPool } from "../src/index.ts";
import { RawClient, resetRequest, stepRequest } from "./support/raw-client.ts";
import { scriptedHost } from "./support/scripted-host.ts";
import { localWorkers } from "./support/serve-by-worker.ts";

let workers: WorkerPool;
let server: EnvironmentServer;
let client: RawClient;
let remove: () => void;

async function serve(count: number): Promise<void> {
  const host = scriptedHost();
  const start = localWorkers({ host });
  remove = start.remove;
  workers = await startWorkers({ count, start });
  server = await serveEnvironments({ host: workers.host, workers, address: "127.0.0.1:0" });
  client = new RawClient(server.port, "secret");
}
afterEach(async () => {
  client.close();
  await server.close();
  remove();
});

test("sessions that open at once are spread over the workers, and each keeps its own", async () => {
  await serve(3);
  const stream = client.stream();
  const ids = Array.from({ length: 12 }, () => randomBytes(16));
  ids.forEach((id, i) => stream.send(BigInt(i + 1), { $case: "reset", reset: resetRequest(id, 1) }));
  await stream.received(12);
  expect(workers.processes.map(({ sessions }) => sessions)).toEqual([4, 4, 4]);
  ids.forEach((id, i) => stream.send(BigInt(i + 101), { $case: "step", step: stepRequest(id, 1, 0, "") }));
  const answers = (await stream.received(24)).slice(12);
  expect(answers.map(({ response }) => response?.$case)).toEqual(Array.from({ length: 12 }, () => "step"));
  stream.send(1_000n, { $case: "renew", renew: { sessionIds: [...ids, randomBytes(16)] } });
  const [renewal] = (await stream.received(25)).slice(24);
  expect(renewal?.response?.$case === "renew" && renewal.response.renew.gone).toHaveLength(1);
});
