import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { connectEnvironments } from "@mrlm/client";
import { definePlugin, observe, singleStep, textMessage } from "@mrlm/kit";
import { LocalHost, PluginHost } from "@mrlm/runtime";
import { serveEnvironments } from "@mrlm/server";
import { MrlmError, score } from "@mrlm/spec";
import { recordedConsole } from "./support/console.ts";
import { jsonLogger } from "../src/console/json-logger.ts";
import { workerOutput } from "../src/services/server-observation.ts";
import { serveMetrics } from "../src/services/metrics-endpoint.ts";

const { signal } = new AbortController();
const CANARY = "CANARY";
const TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const LATER = { hint: "-", isRetryable: false };

/** Environment whose step throws the text of the action. */
const plugin = definePlugin({
  name: "quoting",
  environments: [
    {
      id: "quoting@1",
      description: "Throws what it gets.",
      determinism: "full",
      roles: { agent: {} },
      create: ({ trace }) => ({
        reset: async () => observe([textMessage("user", `${CANARY} observation`)]),
        async step({ message }) {
          const [part] = message.parts;
          const text = part?.type === "text" ? part.text : "";
          if (text === "later") throw new MrlmError(`LATER_${trace}` as "INTERNAL", CANARY, LATER);
          if (text !== "good") throw new Error(`cannot read ${text}`);
          return singleStep({ messages: [textMessage("user", CANARY)], reward: score(1) });
        },
        close: () => Promise.reject(new Error(`${CANARY} was open`)),
      }),
    },
  ],
});

test("failures, refusals and malformed traces are counted under known labels; log lines name the call and no content", async () => {
  const metrics = await serveMetrics("127.0.0.1", 0);
  const lines: string[] = [];
  const logger = jsonLogger({ write: (line) => void lines.push(line) });
  const local = new LocalHost({ source: await PluginHost.of([plugin]), logger });
  const server = await serveEnvironments({
    host: local,
    logger,
    address: "127.0.0.1:0",
    maxSessions: 1,
    maxQueue: 0,
  });
  const host = await connectEnvironments(`127.0.0.1:${server.port}`);
  const codeOf = (call: Promise<unknown>): Promise<unknown> =>
    call.then(
      () => "none",
      (error: unknown) => (error as MrlmError).code,
    );
  const session = await host.open({ id: "quoting" });
  const play = async (text: string, trace?: string): Promise<unknown> => {
    const options = { signal, ...(trace !== undefined && { trace }) };
    await session.reset(options);
    const message = textMessage("assistant", text);
    return codeOf(session.step({ agent: "agent", message, finishReason: "stop" }, options));
  };
  expect(await play("good", `${CANARY}-trace`)).toBe("none");
  expect(await play(`${CANARY}\n    at ${CANARY}`, TRACE)).toBe("ENVIRONMENT_FAILED");
  await play("later");
  await session.reset({ signal });
  const second = await host.open({ id: "quoting" });
  expect(await codeOf(second.reset({ signal }))).toBe("RESOURCE_EXHAUSTED");
  const unknown = await codeOf(
    host.open({ id: "quoting", options: { [CANARY]: CANARY } }).then((opened) => opened.reset({ signal })),
  );
  expect(unknown).toBe("OPTIONS_INVALID");
  const scraped = await (await fetch(`http://${metrics.address}/metrics`)).text();
  await Promise.allSettled([session.close(), second.close()]);
  await host.close();
  await server.close();
  await local.close();
  await metrics.close();

  const values = Object.fromEntries(
    scraped.split("\n").flatMap((line) => {
      const [, name, value] = /^(mrlm_server_(?:errors|malformed_traces)_total\S*) (\d+)$/.exec(line) ?? [];
      return name === undefined ? [] : [[name, Number(value)]];
    }),
  );
  const guide = readFileSync(new URL("../../../docs/operate/serving.md", import.meta.url), "utf8");
  const documented = new Set(guide.match(/(?<!from )\b(?:mrlm|process|nodejs)_[a-z_]+(?=[`{ ])/g));
  // Nothing happened that these count.
  for (const quiet of ["worker_restarts_total", "unauthenticated_total", "client_sessions", "client_queue_length"])
    expect(documented.delete(`mrlm_server_${quiet}`)).toBe(true);
  expect(Array.from(scraped.matchAll(/^# TYPE (\S+)/gm), ([, name]) => name).sort()).toEqual([...documented].sort());
  const errors = (phase: string, code: string): string =>
    `mrlm_server_errors_total{environment="quoting@1",phase="${phase}",code="${code}"}`;
  expect(values).toMatchObject({
    [errors("step", "ENVIRONMENT_FAILED")]: 1,
    [errors("step", "INTERNAL")]: 1,
    [errors("reset", "RESOURCE_EXHAUSTED")]: 1,
    mrlm_server_malformed_traces_total: 2,
  });
  const parsed = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(parsed).toContainEqual({
    time: expect.any(String),
    level: "debug",
    msg: "A call failed.",
    session: expect.stringMatching(/^[0-9a-f]{16}$/),
    environment: "quoting@1",
    client: expect.stringMatching(/^client-[0-9a-f]{8}$/),
    trace: TRACE.split("-")[1],
    fields: { phase: "step", code: "ENVIRONMENT_FAILED", place: expect.stringContaining("observation.test.ts") },
  });
  expect(lines.join("") + scraped).not.toContain(CANARY);
});

test("every line of a worker is one JSON object with --log json, also one that was cut", () => {
  const recorded = recordedConsole();
  const lines: string[] = [];
  const print = workerOutput({ log: "json" }, recorded.console, jsonLogger({ write: (line) => void lines.push(line) }));
  const whole = '{"level":"warn","msg":"whole"}';
  print("worker 1", whole);
  print("worker 1", '{"level":"warn","fields":{"text":"yyyy...');
  print("worker 1", "text");
  expect(recorded.err()).toBe(`${whole}\n`);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: "info", msg: 'worker 1: {"level":"warn","fields":{"text":"yyyy...' },
    { level: "info", msg: "worker 1: text" },
  ]);
});
