// npm run bench -- wire [--json]: what a step costs over the wire. The server runs in a separate process, its environments do
// nothing, and the guard is left out, so that only the protocol takes time.
import { fork } from "node:child_process";
import { once } from "node:events";
import { connectEnvironments } from "@mrlm/client";
import { textMessage } from "@mrlm/kit";
import type { Action } from "@mrlm/spec";

const SESSIONS = { stream: [1, 16, 256, 4096], unary: [1, 16, 256] } as const;
const STEPS = 20_000;
const never = new AbortController().signal;
const action: Action = {
  agent: "agent",
  message: textMessage("assistant", "<answer>42</answer>"),
  finishReason: "stop",
};

interface Row {
  readonly transport: keyof typeof SESSIONS;
  readonly sessions: number;
  readonly steps_per_s: number;
  readonly wall_us_per_step: number;
  readonly client_cpu_us_per_step: number;
  readonly server_cpu_us_per_step: number;
}

const child = fork(new URL("./server.ts", import.meta.url), { execArgv: ["--conditions=mrlm-source"] });
const [port] = (await once(child, "message")) as [number];
const isJson = process.argv.includes("--json");
for (const transport of ["stream", "unary"] as const) {
  for (const sessions of SESSIONS[transport]) report(await measure(transport, sessions));
}
child.disconnect();

async function measure(transport: Row["transport"], count: number): Promise<Row> {
  const remote = await connectEnvironments(`127.0.0.1:${port}`, { transport });
  const each = Math.ceil((count === 1 ? STEPS / 10 : STEPS) / count);
  const sessions = await Promise.all(Array.from({ length: count }, () => remote.open({ id: "idle@1" })));
  await Promise.all(sessions.map((session) => session.reset({ signal: never })));
  const play = (steps: number): Promise<unknown> =>
    Promise.all(
      sessions.map(async (session) => {
        for (let i = 0; i < steps; i++) await session.step(action, { signal: never });
      }),
    );
  await play(Math.ceil(each / 10));
  const serverBefore = await serverCpu();
  const clientBefore = process.cpuUsage();
  const started = performance.now();
  await play(each);
  const wall = (performance.now() - started) * 1_000;
  const client = process.cpuUsage(clientBefore);
  const server = (await serverCpu()) - serverBefore;
  await remote.close();
  const steps = each * count;
  return {
    transport,
    sessions: count,
    steps_per_s: Math.round((steps / wall) * 1e6),
    wall_us_per_step: round(wall / steps),
    client_cpu_us_per_step: round((client.user + client.system) / steps),
    server_cpu_us_per_step: round(server / steps),
  };
}

/** Returns the microseconds of CPU that the server has used. */
async function serverCpu(): Promise<number> {
  child.send("cpu");
  const [microseconds] = (await once(child, "message")) as [number];
  return microseconds;
}

function report(row: Row): void {
  if (isJson) console.log(JSON.stringify(row));
  else
    console.log(
      Object.entries(row)
        .map(([name, value]) => `${name} ${value}`)
        .join("  "),
    );
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
