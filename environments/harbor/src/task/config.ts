import { nearestName } from "@mrlm/spec/host";
import { z } from "zod";
import { invalidTask, needsDocker } from "./place.ts";
import { readToml, type TomlFile } from "./toml-file.ts";

const seconds = z.number().positive().max(7200, "must be at most 7200 s");
const variables = z.record(z.string(), z.string());
const artifact = z.union([
  z.string().min(1),
  z.object({ source: z.string().min(1), service: z.literal("main").optional() }),
]);

const network = { network_mode: z.enum(["no-network", "public"]).optional() };
const hosts = "is only valid with the `network_mode` allowlist";

const agent = z.object({ timeout_sec: seconds.optional(), ...network, allowed_hosts: z.never(hosts).optional() });
const verifier = z.object({
  timeout_sec: seconds.optional(),
  ...network,
  allowed_hosts: z.never(hosts).optional(),
  env: variables.default({}),
  environment_mode: z.enum(["shared", "separate"]).optional(),
});
const size = z.int().positive().optional();
const legacySize = z
  .string()
  .regex(/^\d+(\.\d+)?[GMK]$/i, 'must be a size such as "2G"')
  .optional();
const environment = z.object({
  build_timeout_sec: seconds.default(600),
  docker_image: z.string().min(1).optional(),
  os: z.string().optional(),
  cpus: z.number().positive().optional(),
  memory_mb: size,
  storage_mb: size,
  memory: legacySize,
  storage: legacySize,
  gpus: z.int().min(0).optional(),
  env: variables.default({}),
  workdir: z.string().startsWith("/", "must be an absolute path").optional(),
  ...network,
  allowed_hosts: z.tuple([], hosts).optional(),
});
const step = z.object({
  name: z
    .string()
    .regex(/^(?!\.{1,2}$)[^<>:"/\\|?*\0]*[^<>:"/\\|?*\0. ]$/, "must be the name of a folder below steps/"),
  agent: agent.prefault({}),
  verifier: verifier.prefault({}),
  min_reward: z.union([z.number(), z.record(z.string(), z.number())]).optional(),
  artifacts: z.array(artifact).default([]),
});
const schema = z.object({
  schema_version: z
    .string()
    .regex(/^1(\.|$)/, "must be version 1 of the format")
    .optional(),
  version: z
    .string()
    .regex(/^1(\.|$)/, "must be version 1 of the format")
    .optional(),
  task: z
    .object({
      name: z
        .string()
        .regex(/^[a-zA-Z0-9][\w.-]*\/[a-zA-Z0-9][\w.-]*$/, "must have the form organisation/name")
        .refine((name) => !name.includes(".."), "must not contain .."),
    })
    .optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
  agent: agent.prefault({}),
  verifier: verifier.prefault({}),
  environment: environment.prefault({}),
  solution: z.object({ env: variables.default({}) }).prefault({}),
  steps: z.array(step).default([]),
  multi_step_reward_strategy: z.enum(["mean", "final"]).default("mean"),
  artifacts: z.array(artifact).default([]),
});

/** Settings of a task. Times are seconds. */
export type TaskConfig = z.output<typeof schema>;
export type StepConfig = TaskConfig["steps"][number];

/** Keys by table that need a container, with the values that do not. */
const CONTAINER_KEYS: Readonly<Record<string, Readonly<Record<string, (value: unknown) => boolean>>>> = {
  environment: {
    os: (value) => String(value).toLowerCase() === "linux",
    gpus: (value) => value === 0,
    gpu_types: isEmpty,
    tpu: () => false,
    healthcheck: () => false,
    mcp_servers: isEmpty,
    skills_dir: (value) => value === "",
    network_mode: (value) => value !== "allowlist",
  },
  agent: { user: isRoot, network_mode: (value) => value !== "allowlist" },
  verifier: {
    user: isRoot,
    environment: () => false,
    collect: isEmpty,
    network_mode: (value) => value !== "allowlist",
  },
  step: { healthcheck: () => false },
  artifact: { exclude: isEmpty, service: (value) => value === "main" },
};

const KNOWN = {
  environment: [
    ...Object.keys(environment.shape),
    ...Object.keys(CONTAINER_KEYS["environment"] ?? {}),
    "allow_internet",
  ],
  agent: [...Object.keys(agent.shape), "user"],
  verifier: [...Object.keys(verifier.shape), ...Object.keys(CONTAINER_KEYS["verifier"] ?? {})],
  step: [...Object.keys(step.shape), "healthcheck"],
};

/** Reads task.toml. Rejects with DATA_INVALID, which names file and line. */
export async function readConfig(path: string): Promise<{ readonly config: TaskConfig; readonly toml: TomlFile }> {
  const toml = await readToml(path);
  checkTable(toml, [], "environment");
  for (const keys of [[], ...stepsOf(toml).map((_, at) => ["steps", at])]) {
    if (keys.length > 0) checkKeys(toml, keys, "step");
    for (const kind of ["agent", "verifier"] as const) checkTable(toml, keys, kind);
    for (const [at, entry] of listOf(tableOf(toml, keys)["artifacts"]).entries())
      if (typeof entry === "object") checkKeys(toml, [...keys, "artifacts", at], "artifact");
  }
  const parsed = schema.safeParse(toml.value);
  if (!parsed.success) {
    const issue = parsed.error.issues[0] as z.core.$ZodIssue;
    throw invalidTask(toml.placeOf(issue.path), `${issue.path.join(".")}: ${issue.message}`);
  }
  const { data } = parsed;
  for (const [table, env] of [
    ["environment", data.environment.env],
    ["verifier", data.verifier.env],
    ["solution", data.solution.env],
    ...data.steps.map((each, at) => [`steps.${at}.verifier`, each.verifier.env] as const),
  ] as const)
    for (const [name, value] of Object.entries(env))
      if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || /\$\{[^}]*\}/.test(value))
        throw invalidTask(
          toml.placeOf([...table.split("."), "env", name]),
          `the variable ${name} is no fixed value`,
          "A variable of the host is not passed on: an episode depends on its task alone. Write the value.",
        );
  const names = data.steps.map(({ name }) => name.normalize("NFC").toLowerCase());
  const twice = names.findIndex((name, at) => names.indexOf(name) !== at);
  if (twice >= 0) throw invalidTask(toml.placeOf(["steps", twice, "name"]), "two steps have this name");
  return { config: data, toml };
}

function checkTable(toml: TomlFile, keys: readonly PropertyKey[], kind: "environment" | "agent" | "verifier"): void {
  checkKeys(toml, [...keys, kind], kind);
}

/** Throws for a key that needs a container, and for one that is nearly a known key: others are ignored, as the format does. */
function checkKeys(toml: TomlFile, keys: readonly PropertyKey[], kind: string): void {
  const table = tableOf(toml, keys);
  for (const [key, value] of Object.entries(table)) {
    const place = toml.placeOf([...keys, key]);
    if (CONTAINER_KEYS[kind]?.[key]?.(value) === false)
      throw needsDocker(place, `\`${[...keys, key].join(".")}\` is ${JSON.stringify(value)}`);
    const known = KNOWN[kind as keyof typeof KNOWN];
    if (known === undefined || known.includes(key)) continue;
    const near = nearestName(key, known);
    if (near !== undefined)
      throw invalidTask(place, `there is no key \`${key}\` in ${keys.join(".")}`, `Did you mean ${near}?`);
  }
}

function stepsOf({ value }: TomlFile): readonly unknown[] {
  return listOf(value["steps"]);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function tableOf({ value }: TomlFile, keys: readonly PropertyKey[]): Readonly<Record<string, unknown>> {
  let at: unknown = value;
  for (const key of keys)
    at = typeof at === "object" && at !== null ? (at as Record<PropertyKey, unknown>)[key] : undefined;
  return typeof at === "object" && at !== null && !(at instanceof Date) ? (at as Record<string, unknown>) : {};
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function isRoot(value: unknown): boolean {
  return value === "root" || value === 0 || value === "0";
}
