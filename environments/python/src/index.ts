import { type EnvironmentContext, defineEnvironment, definePlugin, MrlmError, SINGLE_AGENT } from "@mrlm/kit";
import { fixtures } from "./fixtures.ts";
import { GameEnvironment } from "./game-environment.ts";
import { pythonOptions, type PythonOptions } from "./options.ts";
import { poolOf, type PythonPool } from "./python-pool.ts";
import { demonstrate, ReasoningEnvironment } from "./reasoning.ts";
import { pythonTasks } from "./tasks.ts";

/** Longest phase in milliseconds: an installation of packages, or `step_seconds` behind other episodes of a process. The processes have limits of their own, whose errors name the call. */
const PHASE_MS = 75 * 60_000;
const FILE = /^(.+\.py):[A-Za-z_]\w*$/;

/** `python-env@1`: an environment of gymnasium or PettingZoo, or a set of tasks of reasoning-gym, in Python processes. */
export const python = defineEnvironment({
  id: "python-env@1",
  description: "Environments of Python: gymnasium, PettingZoo, reasoning-gym.",
  determinism: ({ determinism }) => determinism,
  options: pythonOptions,
  roles: ({ agents = [SINGLE_AGENT] }) => Object.fromEntries(agents.map((agent) => [agent, {}])),
  rewardComponents: ["score", "unreadable"],
  rewardRange: ({ reward_range: [least, largest] = [0, 1] }) => [least, largest],
  deadlines: { setupMs: PHASE_MS, stepMs: PHASE_MS },
  async tasks(context, options) {
    const pool = poolIn(context, options);
    assertAgents(options, (await pool.facts()).agents);
    return pythonTasks(options, pool);
  },
  create(context, options) {
    const pool = poolIn(context, options);
    return options.kind === "reasoning_gym"
      ? new ReasoningEnvironment(context, options, pool)
      : new GameEnvironment(context, options, pool);
  },
  demonstrate,
  fixtures,
});

function poolIn(
  { logger, dataPath }: Pick<EnvironmentContext, "logger" | "dataPath">,
  options: PythonOptions,
): PythonPool {
  const file = FILE.exec(options.name)?.[1];
  return poolOf(options, file === undefined ? undefined : dataPath(file), (line) => logger.info(line));
}

/** Throws OPTIONS_INVALID for agents that the game does not have: roles are known before it is loaded. */
function assertAgents({ kind, name, agents = [] }: PythonOptions, own: readonly string[]): void {
  if (kind !== "pettingzoo" || own.toSorted().join(" ") === agents.toSorted().join(" ")) return;
  throw new MrlmError("OPTIONS_INVALID", `\`${name}\` has the agents ${own.join(", ")}, not ${agents.join(", ")}.`, {
    hint: `State \`agents: [${own.join(", ")}]\`.`,
  });
}

export default definePlugin({ name: "@mrlm/environment-python", environments: [python] });
