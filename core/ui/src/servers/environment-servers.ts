import { MrlmError } from "@mrlm/spec";
import { quantileOf, readMetrics, type Sample } from "./metrics-text.ts";

/** State of an environment server, from its metrics. */
export interface ServerState {
  readonly url: string;
  /** Reason why the server's metrics could not be read. */
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly environments: readonly {
    readonly environment: string;
    readonly sessions: number;
    readonly queue: number;
  }[];
  /** Calls since the start of the server. Times are in seconds; quantiles are estimates from a histogram. */
  readonly calls: readonly {
    readonly environment: string;
    readonly phase: string;
    readonly count: number;
    readonly mean: number | null;
    readonly p50: number | null;
    readonly p99: number | null;
  }[];
  readonly errors: readonly { readonly environment: string; readonly code: string; readonly count: number }[];
  /** Open sessions that the server permits. */
  readonly limit: number | null;
  /** Resident memory in bytes. */
  readonly rss: number | null;
  /** Bytes that wait for slow clients. */
  readonly buffered: number | null;
  /** 99th percentile of the event loop's delay, in seconds. */
  readonly delay: number | null;
  readonly draining: boolean;
}

const TIMEOUT_MS = 2_000;
const MAX_BYTES = 4 << 20;

/** Reads the metrics of environment servers. */
export class EnvironmentServers {
  readonly #urls: readonly string[];

  /** @param urls addresses that `mrlm serve --metrics-port` opens. Throws USAGE for one that is not HTTP */
  constructor(urls: readonly string[]) {
    this.#urls = urls.map((text) => {
      const url = URL.parse(text.includes("://") ? text : `http://${text}`);
      if (url === null || !/^https?:$/.test(url.protocol))
        throw new MrlmError("USAGE", `--metrics ${text} is no HTTP address.`, {
          hint: "Give the address of mrlm serve --metrics-port, such as http://127.0.0.1:9464/metrics.",
        });
      if (url.pathname === "/") url.pathname = "/metrics";
      return url.href;
    });
  }

  /** Returns the state of each server, in the order of their addresses. */
  async read(): Promise<ServerState[]> {
    return Promise.all(
      this.#urls.map(async (url) => {
        try {
          return stateOf(url, readMetrics(await fetched(url)));
        } catch (error) {
          const { code, message } = faultOf(error);
          return { ...stateOf(url, []), error: { code, message } };
        }
      }),
    );
  }
}

async function fetched(url: string): Promise<string> {
  const response = await fetch(url, { redirect: "error", signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new MrlmError("SERVER_UNAVAILABLE", `It answered with status ${response.status}.`);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new MrlmError("MESSAGE_INVALID", `It answered with more than ${MAX_BYTES} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function faultOf(error: unknown): MrlmError {
  if (MrlmError.isInstance(error)) return error;
  const { message, cause, name } = error as Error;
  if (name === "TimeoutError") return new MrlmError("SERVER_UNAVAILABLE", `It did not answer within ${TIMEOUT_MS} ms.`);
  return new MrlmError("SERVER_UNAVAILABLE", cause instanceof Error ? cause.message : message);
}

function stateOf(url: string, samples: readonly Sample[]): ServerState {
  const of = (name: string): Sample[] => samples.filter((sample) => sample.name === name);
  const value = (name: string, labels: Readonly<Record<string, string>> = {}): number | null =>
    of(name).find((sample) => Object.entries(labels).every(([label, text]) => sample.labels[label] === text))?.value ??
    null;
  const environments = [...of("mrlm_server_sessions"), ...of("mrlm_server_queue_length")].flatMap(({ labels }) =>
    labels["environment"] === undefined ? [] : [labels["environment"]],
  );
  return {
    url,
    error: null,
    environments: [...new Set(environments)].sort().map((environment) => ({
      environment,
      sessions: value("mrlm_server_sessions", { environment }) ?? 0,
      queue: value("mrlm_server_queue_length", { environment }) ?? 0,
    })),
    calls: of("mrlm_server_call_duration_count").map(({ labels: { environment = "", phase = "" }, value: count }) => {
      const buckets = of("mrlm_server_call_duration_bucket")
        .filter(({ labels }) => labels["environment"] === environment && labels["phase"] === phase)
        .map((sample) => [Number(sample.labels["le"]?.replace("+Inf", "Infinity")), sample.value] as const);
      const sum = value("mrlm_server_call_duration_sum", { environment, phase });
      return {
        ...{ environment, phase, count },
        mean: sum === null || count === 0 ? null : sum / count,
        p50: quantileOf(buckets, 0.5) ?? null,
        p99: quantileOf(buckets, 0.99) ?? null,
      };
    }),
    errors: of("mrlm_server_errors_total").map(({ labels: { environment = "", code = "" }, value: count }) => ({
      ...{ environment, code, count },
    })),
    limit: value("mrlm_server_sessions_limit"),
    rss: value("process_memory_rss"),
    buffered: value("mrlm_server_buffered"),
    delay: value("nodejs_eventloop_delay", { quantile: "0.99" }),
    draining: value("mrlm_server_draining") === 1,
  };
}
