import calculator from "@mrlm/tool-calculator";
import { Durations, Rate, round } from "./measure.ts";
import { openEpisode, openHost } from "./session.ts";

const CALLERS = 8;

/** Measures calls of tools of this process: one that only echoes, and the calculator through its worker process. */
export async function localFigures(seconds: number): Promise<Record<string, number>> {
  const host = await openHost([calculator]);
  try {
    const episodes = await Promise.all(Array.from({ length: CALLERS }, () => openEpisode(host, ["echo@1"])));
    const echo = new Rate();
    const callers = episodes.map((episode) => () => episode.call("echo", { message: "hello" }));
    await new Rate().measure(callers, seconds / 4);
    await echo.measure(callers, seconds);

    const episode = await openEpisode(host, ["calculator@1"]);
    const durations = new Durations();
    const end = performance.now() + seconds * 1000;
    for (let i = 0; performance.now() < end; i++) {
      const call = (): Promise<string> => episode.call("calculator", { expression: `(${i} + 1/3) * 6 - sqrt(${i}^2)` });
      if (i < 200) await call();
      else await durations.measure(call);
    }
    return {
      calls_per_s_local: round(echo.perSecond, 0),
      calculator_p50_ms: round(durations.at(0.5), 3),
      calculator_p99_ms: round(durations.at(0.99), 3),
    };
  } finally {
    await host.close();
  }
}
