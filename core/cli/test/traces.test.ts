import { mkdtempSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "@jest/globals";
import { traced, traceOption, traceWith } from "@mrlm/kit/service";
import { MrlmError } from "@mrlm/spec";
import type { Tracer } from "@opentelemetry/api";
import { startTraces } from "../src/services/traces.ts";

interface WrittenSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
  readonly status: { readonly code: number; readonly message?: string };
}
interface ExportRequest {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly WrittenSpan[] }[] }[];
}
const spansOf = ({ resourceSpans }: ExportRequest): WrittenSpan[] =>
  resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
const attribute = ({ attributes }: WrittenSpan, name: string): unknown =>
  Object.values(attributes.find(({ key }) => key === name)?.value ?? {})[0];
const linesOf = (path: string): WrittenSpan[] =>
  readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .flatMap((line) => spansOf(JSON.parse(line) as ExportRequest));

afterEach(() => traceWith(undefined));

const nested = () =>
  traced(
    "outer",
    () => ({ "mrlm.task": "train/1" }),
    async () => {
      const trace = traceOption().trace;
      await traced(
        "inner",
        () => ({}),
        async (span) => void span?.setAttribute("mrlm.turns", 3),
        { kind: "client" },
      );
      return trace;
    },
  );

test("without MRLM_TRACES no span is made and no attribute is read", async () => {
  expect(await startTraces(undefined)).toBeUndefined();
  expect(await startTraces("")).toBeUndefined();
  let read = 0;
  const seen = await traced(
    "work",
    () => (read++, {}),
    async (span) => [span, traceOption().trace],
  );
  expect([seen, read]).toEqual([[undefined, undefined], 0]);
  let made = 0;
  const counting = { startSpan: () => (made++, undefined), startActiveSpan: () => undefined } as unknown as Tracer;
  traceWith(counting);
  traceWith(undefined);
  await nested();
  expect(made).toBe(0);
});

test("a file has a line of OTLP for each export, with parents, kinds, attributes and failures", async () => {
  const path = join(mkdtempSync(join(tmpdir(), "mrlm-traces-")), "otel.jsonl");
  const end = await startTraces(path);
  const trace = await nested();
  const failure = new MrlmError("TOOL_FAILED", "it broke");
  await expect(
    traced(
      "broken",
      () => ({}),
      () => Promise.reject(failure),
    ),
  ).rejects.toBe(failure);
  const caller = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  await traced(
    "served",
    () => ({}),
    async () => undefined,
    { kind: "server", parent: caller },
  );
  await end?.();
  const [inner, outer, broken, served] = linesOf(path) as [WrittenSpan, WrittenSpan, WrittenSpan, WrittenSpan];
  expect([inner.name, inner.parentSpanId, inner.traceId]).toEqual(["inner", outer.spanId, outer.traceId]);
  expect([outer.parentSpanId, trace]).toEqual([undefined, `00-${outer.traceId}-${outer.spanId}-01`]);
  expect([attribute(outer, "mrlm.task"), attribute(inner, "mrlm.turns")]).toEqual(["train/1", 3]);
  expect([broken.status, attribute(broken, "error.type")]).toEqual([{ code: 2, message: "it broke" }, "TOOL_FAILED"]);
  expect([served.traceId, served.parentSpanId]).toEqual(caller.split("-").slice(1, 3));
  expect([inner, outer, served].map(({ kind }) => kind)).toEqual([3, 1, 2]);
  await traced(
    "after the end",
    () => ({}),
    async () => undefined,
  );
  expect(linesOf(path)).toHaveLength(4);
});

test("a collector receives the spans, below /v1/traces of its address", async () => {
  const requests: { path: string | undefined; body: ExportRequest }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => void chunks.push(chunk));
    request.on("end", () => {
      requests.push({ path: request.url, body: JSON.parse(Buffer.concat(chunks).toString()) as ExportRequest });
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const end = await startTraces(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await nested();
  await end?.();
  server.close();
  expect(requests.map(({ path, body }) => [path, spansOf(body).map(({ name }) => name)])).toEqual([
    ["/v1/traces", ["inner", "outer"]],
  ]);
});

test("a file that cannot be written is an error before any work", async () => {
  await expect(startTraces("/nowhere/otel.jsonl")).rejects.toMatchObject({
    code: "USAGE",
    message: expect.stringContaining("/nowhere/otel.jsonl"),
  });
});
