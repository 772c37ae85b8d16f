/** Steps a second of python-env@1, over those of gymnasium's AsyncVectorEnv with as many processes and environments. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import plugin from "@mrlm/environment-python";
import { textMessage } from "@mrlm/kit";
import { LocalHost, PluginHost } from "@mrlm/runtime";
import { median } from "../train/measurement.ts";

const PROCESSES = 2;
/** Of a measurement; a third of it before that warms up. */
const SECONDS = 3;
/** Episodes at a time of the figure with many instances in each process. */
const MANY = 64;
/** Time of a slow step, in seconds. */
const SLOW = 0.005;

const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

/**
 * Measures both in turn, and returns medians over rounds: `python_env_ratio` with an episode in each process, as AsyncVectorEnv has, `python_env_ratio_5ms`
 * where a step computes for 5 ms, and `python_env_ratio_many` with 64 episodes at a time. A step includes the host, the observation as text and the action read from text.
 */
export async function pythonEnvironmentFigures(rounds: number): Promise<Record<string, number>> {
  const setup = here("../train/peers/setup_environment.py");
  const printed = execFileSync("python3", [setup, "--requirements", here("requirements.txt")], { encoding: "utf8" });
  const python = printed.trim().split("\n").at(-1) as string;
  const host = new LocalHost({ source: await PluginHost.of([plugin]) });
  const ratios: Record<string, number[]> = {};
  let steps = 0;
  try {
    for (let round = 0; round < rounds; round++)
      for (const [name, seconds, sessions] of [
        ["python_env_ratio", 0, PROCESSES],
        ["python_env_ratio_5ms", SLOW, PROCESSES],
        ["python_env_ratio_many", 0, MANY],
      ] as const) {
        const own = await stepsPerSecond(host, python, seconds, sessions);
        const args = [here("vector_environment.py"), String(PROCESSES), String(SECONDS), String(seconds)];
        const peer = Number(execFileSync(python, args, { encoding: "utf8" }).trim().split("\n").at(-1));
        console.error(`${name}: ${own.toFixed(0)} steps/s, AsyncVectorEnv ${peer.toFixed(0)}`);
        (ratios[name] ??= []).push(own / peer);
        if (name === "python_env_ratio") steps = own;
      }
  } finally {
    await host.close();
  }
  const medians = Object.entries(ratios).map(([name, all]) => [name, median(all)] as const);
  return { ...Object.fromEntries(medians), python_env_steps_per_second: steps };
}

async function stepsPerSecond(host: LocalHost, python: string, seconds: number, count: number): Promise<number> {
  const options = {
    ...{ kind: "gymnasium", name: `${here("timed_cart_pole.py")}:make`, kwargs: { seconds }, python },
    ...{ processes: PROCESSES, reward_range: [0, 500], max_turns: 10_000 },
  };
  const sessions = await Promise.all(Array.from({ length: count }, () => host.open({ id: "python-env@1", options })));
  const { signal } = new AbortController();
  let [steps, episodes, end] = [0, 0, 0];
  const play = async (session: (typeof sessions)[number]): Promise<void> => {
    while (performance.now() < end) {
      let { agent } = await session.reset({ task: `train/${episodes++ % 1_000}`, signal });
      while (agent !== "" && performance.now() < end) {
        const message = textMessage("assistant", String(steps++ % 2));
        ({ agent } = (await session.step({ agent, message, finishReason: "stop" }, { signal })).observation);
      }
    }
  };
  const run = async (duration: number): Promise<number> => {
    const [begin, before] = [performance.now(), steps];
    end = begin + duration * 1_000;
    await Promise.all(sessions.map(play));
    return ((steps - before) * 1_000) / (performance.now() - begin);
  };
  // The first episodes wait for the imports of the processes.
  await run(SECONDS / 3);
  await Promise.all(sessions.map((session) => session.reset({ task: "train/0", signal })));
  const rate = await run(SECONDS);
  for (const session of sessions) await session.close();
  return rate;
}
