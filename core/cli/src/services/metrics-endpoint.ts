import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { metrics } from "@opentelemetry/api";
import { PrometheusExporter } from "@opentelemetry/exporter-prometheus";
import { MeterProvider } from "@opentelemetry/sdk-metrics";
import { MrlmError } from "@mrlm/spec";

/** Running endpoint of the metrics. */
export interface MetricsEndpoint {
  /** `host:port` */
  readonly address: string;
  close(): Promise<void>;
}

/**
 * Registers an SDK of metrics in this process, and serves `GET /metrics` in the text format of Prometheus. Call it before the server is made whose metrics
 * it serves. Rejects with PORT_IN_USE or CONFIG_INVALID.
 * @param host name or address to listen on; IPv6 without brackets
 */
export async function serveMetrics(host: string, port: number): Promise<MetricsEndpoint> {
  const exporter = new PrometheusExporter({
    preventServerStart: true,
    withoutTargetInfo: true,
    withoutScopeInfo: true,
  });
  const server = createServer((request, response) => {
    const path = request.url?.split("?", 1)[0];
    if (path !== "/metrics" || request.method !== "GET") response.writeHead(path === "/metrics" ? 405 : 404).end();
    else exporter.getMetricsRequestHandler(request, response);
  });
  server.listen(port, host);
  try {
    await once(server, "listening");
  } catch (cause) {
    throw listenError(host, port, cause as NodeJS.ErrnoException);
  }
  // A server that does not start must not stay for its metrics.
  server.unref();
  const provider = new MeterProvider({ readers: [exporter] });
  metrics.setGlobalMeterProvider(provider);
  const endDelay = observeProcess();
  const { address, port: taken } = server.address() as AddressInfo;
  return {
    address: `${address.includes(":") ? `[${address}]` : address}:${taken}`,
    async close() {
      endDelay();
      metrics.disable();
      server.closeAllConnections();
      const closed = once(server, "close");
      server.close();
      await closed;
      await provider.shutdown();
    },
  };
}

/** Observes the memory and the event loop of this process. @returns a function that ends this */
function observeProcess(): () => void {
  const meter = metrics.getMeter("@mrlm/cli");
  const memory = meter.createObservableGauge("process.memory.rss", { description: "Resident memory", unit: "By" });
  memory.addCallback((result) => result.observe(process.memoryUsage.rss()));
  const histogram = monitorEventLoopDelay({ resolution: 10 });
  histogram.enable();
  const delay = meter.createObservableGauge("nodejs.eventloop.delay", {
    description: "Delay of the event loop since the last read of the metrics",
    unit: "s",
  });
  delay.addCallback((result) => {
    if (histogram.count === 0) return;
    for (const quantile of [50, 99])
      result.observe(histogram.percentile(quantile) / 1e9, { quantile: String(quantile / 100) });
    result.observe(histogram.max / 1e9, { quantile: "1" });
    histogram.reset();
  });
  return () => histogram.disable();
}

function listenError(host: string, port: number, cause: NodeJS.ErrnoException): MrlmError {
  if (cause.code === "EADDRINUSE")
    return new MrlmError("PORT_IN_USE", `Port ${port} for metrics is in use by another process (${host}:${port}).`, {
      hint: "Choose another port; 0 takes any free one (mrlm serve --metrics-port 0).",
      cause,
    });
  return new MrlmError("CONFIG_INVALID", `The metrics cannot be served on ${host}:${port}: ${cause.message}`, {
    hint: "Give an address of this machine as --metrics-host.",
    cause,
  });
}
