import { randomStream, textMessage } from "@mrlm/kit";
import type { EnvironmentHost, EnvironmentSession } from "@mrlm/spec";
import { type ConnectEnvironmentsOptions, connectEnvironments } from "../../src/index.ts";
import { fragileProxy } from "./fragile-proxy.ts";

/** Connection losses by the calls that were under way, and the trajectories of the same calls with and without them. */
export interface DisturbedPlay {
  readonly midStep: number;
  readonly midReset: number;
  readonly calls: number;
  readonly disturbed: readonly string[];
  readonly undisturbed: readonly string[];
}

export interface Disturbance {
  readonly seed: number;
  readonly transport: NonNullable<ConnectEnvironmentsOptions["transport"]>;
  /** Losses to wait for while a step and while a reset is under way. */
  readonly midStep: number;
  readonly midReset: number;
  /** Ranges of the bytes after which a connection is reset, each as likely. */
  readonly offsets: readonly (readonly [least: number, most: number])[];
}

/** Ranges of bytes: the set-up of a connection, and its first calls. */
export const FIRST_CALLS: Disturbance["offsets"] = [
  [16, 1_024],
  ...Array<readonly [number, number]>(3).fill([1_024, 8_192]),
];
/** These, and the chunks of a large action. */
export const LARGE_CALLS: Disturbance["offsets"] = [...FIRST_CALLS, ...FIRST_CALLS, [16_384, 1_048_576]];

const SESSIONS = 4;
const STEPS = 3;
/** One action of 50 is sent in chunks. */
const LARGE_BYTES = 300_000;
const never = new AbortController().signal;

/**
 * Plays `chain` sessions of a server through a proxy that resets each connection after a random number of bytes, from the client or from
 * the server, until enough connections were lost. Then plays the same calls without the proxy.
 */
export async function playDisturbed(
  port: number,
  { seed, transport, midStep, midReset, offsets }: Disturbance,
): Promise<DisturbedPlay> {
  const random = randomStream("drops", seed);
  const losses = { midStep: 0, midReset: 0 };
  const pending = { step: 0, reset: 0 };
  let isEnough = false;
  const proxy = await fragileProxy(port, {
    next() {
      if (isEnough) return { side: "client", bytes: Infinity };
      const [least, most] = random.pick(offsets);
      const bytes = Math.ceil(least * (most / least) ** random.next());
      return { side: random.next() < 0.5 ? "client" : "server", bytes };
    },
    onDrop() {
      if (pending.step > 0) losses.midStep++;
      if (pending.reset > 0) losses.midReset++;
      isEnough = losses.midStep >= midStep && losses.midReset >= midReset;
    },
  });
  const host = await connectEnvironments(`127.0.0.1:${proxy.port}`, { transport });
  const direct = await connectEnvironments(`127.0.0.1:${port}`);
  try {
    const count = <T>(kind: keyof typeof pending, call: Promise<T>): Promise<T> => {
      pending[kind]++;
      return call.finally(() => pending[kind]--);
    };
    const plays = await Promise.all(
      Array.from({ length: SESSIONS }, (_, session) => play(host, seed + session, () => isEnough, count, transport)),
    );
    const again = await Promise.all(
      plays.map(async ({ episodes }, session) => {
        let left = episodes;
        return play(
          direct,
          seed + session,
          () => --left <= 0,
          (_, call) => call,
          transport,
        );
      }),
    );
    const calls = plays.reduce((sum, { episodes }) => sum + episodes * (STEPS + 1), 0);
    const texts = (of: readonly { readonly text: string }[]) => of.map(({ text }) => text);
    return { ...losses, calls, disturbed: texts(plays), undisturbed: texts(again) };
  } finally {
    await Promise.all([host.close(), direct.close()]);
    proxy.close();
  }
}

/** Plays episodes in one session until enough. @returns all observations, rewards and ends as JSON */
async function play(
  host: EnvironmentHost,
  seed: number,
  isEnough: () => boolean,
  count: <T>(kind: "step" | "reset", call: Promise<T>) => Promise<T>,
  transport: Disturbance["transport"],
): Promise<{ readonly episodes: number; readonly text: string }> {
  const random = randomStream("actions", seed);
  const session: EnvironmentSession = await host.open({ id: "chain" });
  const seen: unknown[] = [];
  let episodes = 0;
  do {
    seen.push(await count("reset", session.reset({ seed: seed + episodes, signal: never })));
    for (let i = 0; i < STEPS; i++) {
      const isLarge = transport === "stream" && random.next() < 0.02;
      const text = `${episodes} ${i} ${isLarge ? "x".repeat(LARGE_BYTES) : ""}`;
      const message = textMessage("assistant", text);
      seen.push(
        await count("step", session.step({ agent: "agent", message, finishReason: "stop" }, { signal: never })),
      );
    }
    episodes++;
  } while (!isEnough());
  await session.close();
  return { episodes, text: JSON.stringify(seen) };
}
