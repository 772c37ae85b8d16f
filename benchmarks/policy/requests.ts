/** Requests for completions of a fixed length, and their times. */
import { Agent, request } from "node:http";

/** Server of OpenAI's API. */
export interface Endpoint {
  readonly port: number;
  readonly model: string;
  /** Parameters that make every answer as long as `max_tokens`. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** Tokens of an answer. */
export const TOKENS = 128;

/** Result of one request. */
interface Answered {
  readonly tokens: number;
  /** Milliseconds from the request to the first event with text; `undefined` without a stream. */
  readonly firstTokenMs: number | undefined;
}

/** Requests one answer to a chat message of its own. */
async function ask(
  { port, model, parameters }: Endpoint,
  agent: Agent,
  number: number,
  stream: boolean,
): Promise<Answered> {
  const body = JSON.stringify({
    model,
    messages: [{ role: "user", content: `sort ${100_000 + (number % 900_000)}>` }],
    max_tokens: TOKENS,
    temperature: 1,
    ...(stream && { stream, stream_options: { include_usage: true } }),
    ...parameters,
  });
  const started = performance.now();
  let firstTokenMs: number | undefined;
  const text = await new Promise<string>((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const sent = request({ port, host: "127.0.0.1", path: "/v1/chat/completions", method: "POST", agent, headers });
    sent.on("error", reject).on("response", (response) => {
      let received = "";
      response.setEncoding("utf8").on("data", (part: string) => {
        received += part;
        // A first event may have the role alone.
        if (stream && firstTokenMs === undefined && /"content": ?"[^"]/.test(received))
          firstTokenMs = performance.now() - started;
      });
      response.on("error", reject).on("end", () => {
        if (response.statusCode === 200) resolve(received);
        else reject(new Error(`Status ${response.statusCode}: ${received.slice(0, 500)}`));
      });
    });
    sent.end(body);
  });
  const tokens = Number(/"completion_tokens": ?(\d+)/.exec(text.slice(-2_000))?.[1] ?? Number.NaN);
  if (!Number.isFinite(tokens)) throw new Error(`A response has no usage: ${text.slice(-500)}`);
  return { tokens, firstTokenMs };
}

/** Speed of requests that a number of clients send without pause. */
export interface Load {
  readonly tokensPerSecond: number;
  /** Ascending. */
  readonly firstTokenMs: readonly number[];
}

/** Sends requests from `concurrency` clients, each the next one after its last response, until `count` have been answered. */
export async function load(
  endpoint: Endpoint,
  options: { readonly concurrency: number; readonly count: number; readonly stream: boolean },
): Promise<Load> {
  const { concurrency, count, stream } = options;
  // A connection that outlives its measurement is closed by a server whose idle time ran out while it was paused.
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });
  const started = performance.now();
  const answers: Answered[] = [];
  let sent = 0;
  const client = async (): Promise<void> => {
    while (sent < count) answers.push(await ask(endpoint, agent, sent++, stream));
  };
  await Promise.all(Array.from({ length: concurrency }, client)).finally(() => agent.destroy());
  const seconds = (performance.now() - started) / 1_000;
  return {
    tokensPerSecond: answers.reduce((sum, { tokens }) => sum + tokens, 0) / seconds,
    firstTokenMs: answers.flatMap(({ firstTokenMs = [] }) => firstTokenMs).toSorted((a, b) => a - b),
  };
}
