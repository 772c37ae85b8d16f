/** Sessions per second that a server opens, resets and closes. */
import { connectEnvironments } from "@mrlm/client";
import { serveOurs } from "./processes.ts";

/** Clients that open one session after the other. */
const CONCURRENCY = 256;
const WARM_UP_SECONDS = 1;
const never = new AbortController().signal;

export async function churnFigures(seconds: number): Promise<Record<string, number>> {
  const server = await serveOurs("--workers", "0");
  const host = await connectEnvironments(`127.0.0.1:${server.port}`);
  try {
    let closed = 0;
    const started = performance.now() + 1_000 * WARM_UP_SECONDS;
    const until = started + 1_000 * seconds;
    await Promise.all(
      Array.from({ length: CONCURRENCY }, async () => {
        for (let now = 0; now < until; now = performance.now()) {
          const session = await host.open({ id: "echo@1" });
          await session.reset({ signal: never });
          await session.close();
          if (now >= started) closed++;
        }
      }),
    );
    return { open_close_per_s: closed / seconds };
  } finally {
    await host.close();
    await server.stop();
  }
}
