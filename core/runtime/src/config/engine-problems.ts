import { type ConfigProblem, showPath } from "./config-problems.ts";
import type { ConfigInput } from "./schema.ts";
import { DEFAULT_POLICY } from "./sections/environments.ts";
import type { ConfigPath } from "./source-text.ts";
import { MAIN_ENGINE } from "./engines.ts";

/** Names of directories in checkpoints. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** Finds contradictions between the keys of `engine` and `engines`. */
export function engineProblems({ engine, engines = {}, policies, model, distributed }: ConfigInput): ConfigProblem[] {
  const problems = engine === undefined ? [] : processProblems(["engine"], engine);
  if (engine?.parallel !== undefined && engine.address === undefined)
    problems.push(...meshProblems(engine.parallel, distributed));
  const places = new Map<string, string>();
  for (const [name, entry] of Object.entries(engines)) {
    const path = ["engines", name];
    problems.push(...processProblems(path, entry, engine?.device));
    if (!NAME.test(name) || name === MAIN_ENGINE)
      problems.push({
        path,
        at: "key",
        text: `${showPath(path)}: a name has letters, digits, dots, dashes and underscores, and is not "${MAIN_ENGINE}", which is that of \`engine\``,
      });
    for (const [i, held] of entry.models.entries()) {
      const other = places.get(held);
      if (other !== undefined)
        problems.push({
          path: [...path, "models", i],
          at: "value",
          text: `${showPath([...path, "models", i])}: "${held}" is on the engine "${other}" already`,
        });
      places.set(held, name);
    }
  }
  const trained = Object.keys(policies ?? (model === undefined ? {} : { [DEFAULT_POLICY]: model }));
  if (trained.length > 0 && trained.every((policy) => places.has(policy)))
    problems.push({
      path: ["engines"],
      at: "key",
      text: "engines: every policy is on a further engine: leave the models of one of them to `engine`",
    });
  return problems;
}

/** Returns the problem of a key that needs the address of a running process. */
export function withoutAddress(path: ConfigPath): ConfigProblem {
  return {
    path,
    at: "key",
    text: `${showPath(path)} is for one that is already running: give its \`address\` too`,
  };
}

function meshProblems(
  { data, context = 1, tensor = 1 }: NonNullable<NonNullable<ConfigInput["engine"]>["parallel"]>,
  { enabled = true, nproc_per_node = 1, nnodes = 1 }: NonNullable<ConfigInput["distributed"]> = {},
): ConfigProblem[] {
  const processes = enabled ? nproc_per_node * nnodes : 1;
  const groups = data ?? processes / (context * tensor);
  if (Number.isInteger(groups) && groups * context * tensor === processes) return [];
  const product = [...(data === undefined ? [] : [`data ${data}`]), `context ${context}`, `tensor ${tensor}`];
  const fault = data === undefined ? "does not divide" : "is not";
  return [
    {
      path: ["engine", "parallel"],
      at: "key",
      text: `engine.parallel: ${product.join(" x ")} ${fault} ${processes}, the number of processes (distributed.nproc_per_node x distributed.nnodes)`,
    },
  ];
}

function processProblems(
  path: ConfigPath,
  { address, token_file, device, samplers = 0, gpu, parallel }: NonNullable<ConfigInput["engine"]>,
  defaultDevice?: "auto" | "cpu" | "cuda",
): ConfigProblem[] {
  const name = showPath(path);
  const useless: ConfigProblem[] =
    (device ?? defaultDevice) === "cpu" && gpu !== undefined
      ? [{ path: [...path, "gpu"], at: "key", text: `${name}.gpu is for CUDA, and the engine is on the CPU` }]
      : [];
  if (address === undefined)
    return token_file === undefined ? useless : [...useless, withoutAddress([...path, "token_file"])];
  const started = (key: string, text: string): ConfigProblem => ({
    path: [...path, key],
    at: "key",
    text: `${name}.${key} is for an engine that is started for the run${text}`,
  });
  return [
    ...(samplers > 0 ? [started("samplers", ": beside a running one start them with `mrlm sample --run RUN`")] : []),
    ...(gpu === undefined ? [] : [started("gpu", ": the one at `address` has a device already")]),
    ...(parallel === undefined ? [] : [started("parallel", ": the one at `address` has a mesh already")]),
  ];
}
