import { randomStream, textMessage } from "@mrlm/kit";
import type { EnvironmentHost, EnvironmentSession } from "@mrlm/spec/host";
import { type ConnectEnvironmentsOptions, connectEnvironments } from "../../src/index.ts";
import { type Drops, fragileProxy } from "./fragile-proxy.ts";

/** Connection losses by the calls that were under way, and the trajectories of the same calls with and without them. */
export interface DisturbedPlay {
  readonly midStep: number;
  readonly midReset: number;
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
 * Plays `chain` sessions of servers through proxies that reset each connection after a random number of bytes, from the client or from
 * the server, until enough connections were lost. Then plays the same calls without the proxy.
 */
export async function playDisturbed(
  ports: readonly number[],
  { seed, transport, midStep, midReset, offsets }: Disturbance,
): Promise<DisturbedPlay> {
  const random = randomStream("drops", seed);
  const losses = { midStep: 0, midReset: 0 };
  const pending = { step: 0, reset: 0 };
  let isEnough = false;
  const drops: Drops = {
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
  };
  const proxies = await Promise.all(ports.map((port) => fragileProxy(port, drops)));
  const host = await connectEnvironments(proxies.map(addressOf), { transport });
  const direct = await connectEnvironments(`127.0.0.1:${ports[0]}`);
  try {
    const count = <T>(kind: keyof typeof pending, call: Promise<T>): Promise<T> => {
      pending[kind]++;
      return call.finally(() => pending[kind]--);
    };
    const common = { hasLarge: transport === "stream", isMoved: ports.length > 1 };
    const plays = await Promise.all(
      Array.from({ length: SESSIONS }, (_, session) =>
        play(host, { ...common, seed: seed + session, isEnough: () => isEnough, count }),
      ),
    );
    const again = await Promise.all(
      plays.map(async ({ episodes }, session) => {
        let left = episodes;
        return play(direct, {
          ...common,
          seed: seed + session,
          isEnough: () => --left <= 0,
          count: (_, call) => call,
        });
      }),
    );
    const texts = (of: readonly { readonly text: string }[]) => of.map(({ text }) => text);
    return { ...losses, disturbed: texts(plays), undisturbed: texts(again) };
  } finally {
    await Promise.all([host.close(), direct.close()]);
    for (const proxy of proxies) proxy.close();
  }
}

const addressOf = ({ port }: { readonly port: number }): string => `127.0.0.1:${port}`;

/** Plays episodes in one session until enough. @returns all observations, rewards and ends as JSON */
async function play(
  host: EnvironmentHost,
  {
    seed,
    hasLarge,
    isMoved,
    isEnough,
    count,
  }: {
    readonly seed: number;
    readonly hasLarge: boolean;
    /** Whether each episode gets a session of its own, because a later episode may begin on another server. */
    readonly isMoved: boolean;
    isEnough(): boolean;
    count<T>(kind: "step" | "reset", call: Promise<T>): Promise<T>;
  },
): Promise<{ readonly episodes: number; readonly text: string }> {
  const random = randomStream("actions", seed);
  let session: EnvironmentSession = await host.open({ id: "chain" });
  const seen: unknown[] = [];
  let episodes = 0;
  do {
    if (isMoved && episodes > 0) {
      await session.close();
      session = await host.open({ id: "chain" });
    }
    seen.push(await count("reset", session.reset({ seed: seed + episodes, signal: never })));
    for (let i = 0; i < STEPS; i++) {
      const isLarge = hasLarge && random.next() < 0.02;
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
