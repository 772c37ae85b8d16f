import { closeSync, openSync, writeSync } from "node:fs";
import { traceWith } from "@mrlm/kit/service";
import { fileFault, MrlmError } from "@mrlm/spec";
import type { ReadableSpan, SpanExporter } from "@opentelemetry/sdk-trace";
import { VERSION } from "../version.ts";

/**
 * Makes and exports spans in this process where MRLM_TRACES is set: to `/v1/traces` of a collector where it is a URL, else to a file with an export request of OTLP in JSON on
 * each line. Processes that this one starts inherit it, and add to the same file. The exporter reads the variables OTEL_EXPORTER_OTLP_* for headers and
 * timeouts. Rejects with USAGE for a file that cannot be written.
 * @returns a function that exports what is left; `undefined` where the variable is not set
 */
export async function startTraces(target = process.env["MRLM_TRACES"]): Promise<(() => Promise<void>) | undefined> {
  if (target === undefined || target === "") return undefined;
  const [{ BatchSpanProcessor, TracerProvider }, { resourceFromAttributes }, exporter] = await Promise.all([
    import("@opentelemetry/sdk-trace"),
    import("@opentelemetry/resources"),
    /^https?:/.test(target) ? collectorAt(target) : fileAt(target),
  ]);
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      "service.name": "mrlm",
      "service.version": VERSION,
      "process.pid": process.pid,
    }),
    spanProcessors: [new BatchSpanProcessor({ exporter, maxQueueSize: 65_536 })],
  });
  traceWith(provider.getTracer("mrlm", VERSION));
  return async () => {
    traceWith(undefined);
    await provider.shutdown();
  };
}

async function collectorAt(target: string): Promise<SpanExporter> {
  const { OTLPTraceExporter } = await import("@opentelemetry/exporter-trace-otlp-http");
  const { pathname } = new URL(target);
  return new OTLPTraceExporter({ url: pathname === "/" ? new URL("/v1/traces", target).href : target });
}

async function fileAt(path: string): Promise<SpanExporter> {
  const { JsonTraceSerializer } = await import("@opentelemetry/otlp-transformer");
  // Lines of several processes: each is one write to the end.
  const file = openForAppending(path);
  return {
    export(spans: ReadableSpan[], done) {
      try {
        const line = JsonTraceSerializer.serializeRequest(spans);
        if (line !== undefined) writeSync(file, Buffer.concat([line, Buffer.from("\n")]));
        done({ code: 0 });
      } catch (error) {
        done({ code: 1, error: error as Error });
      }
    },
    shutdown: async () => closeSync(file),
  };
}

function openForAppending(path: string): number {
  try {
    return openSync(path, "a");
  } catch (error) {
    throw new MrlmError("USAGE", `The file of MRLM_TRACES cannot be written: ${path}: ${fileFault(error)}.`, {
      hint: "Name a file, or the URL of a collector, such as http://localhost:4318.",
      cause: error,
    });
  }
}
