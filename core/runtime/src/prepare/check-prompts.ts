import { chatRenderer } from "@mrlm/kit/renderer";
import {
  type Message,
  MrlmError,
  type Observation,
  type PolicyId,
  type Renderer,
  roleOf,
  type TaskId,
} from "@mrlm/spec";
import type { EnvironmentHost, EnvironmentRef, ModelSource, RolloutRequest } from "@mrlm/spec/host";
import { isRemote } from "../config/engines.ts";
import { renderingOf } from "../config/rendering-keys.ts";
import { samplingOf, trainedPolicies } from "../config/policies.ts";
import type { ResolvedConfig } from "../config/resolve-config.ts";
import { ownMember } from "../names/own-member.ts";
import { directoryRenderer } from "../run/directory-renderer.ts";
import { policyOptions } from "./model-source.ts";
import type { PreparedRun } from "./prepare-run.ts";

/** Environments of a run, or of a session. */
type Playing = Pick<PreparedRun, "config" | "environments" | "evaluation">;

/** Tasks of each environment whose first prompts are rendered, evenly from its split. */
const TASKS = 8;

/** Renderer of a policy, with the longest sequence of its model. */
interface PolicyRenderer {
  readonly renderer: Renderer;
  readonly tokenLimit: number;
}

/** Environment of which some first prompts are rendered. */
interface Rehearsed extends Pick<RolloutRequest, "players"> {
  readonly ref: EnvironmentRef;
  readonly tasks: readonly TaskId[];
}

/**
 * Renders the first prompts of a few tasks of each environment as the policies receive them, without an engine. Rejects with the renderer's error
 * (TOKENIZER_INVALID for characters that the tokenizer lacks, TOOLS_UNSUPPORTED), with SEQUENCE_TOO_LONG where no prompt of an environment leaves room
 * for an answer, and with the errors of environments; each names the task.
 * @returns the number of rendered prompts, and notices
 */
export async function checkPrompts(
  prepared: PreparedRun,
  host: EnvironmentHost,
): Promise<{ readonly rendered: number; readonly notices: readonly string[] }> {
  const { config } = prepared;
  const { renderers, notices } = renderersOf(config);
  let rendered = 0;
  for (const { ref, tasks, players } of rehearsed(prepared)) {
    const tooLong: string[] = [];
    let count = 0;
    for (const task of tasks) {
      const observation = await firstObservation(host, ref, task, config.seed);
      const policy = policyOf(players, observation.agent);
      const of = policy === undefined ? undefined : renderers.get(policy);
      if (of === undefined) continue;
      count++;
      const { length } = promptOf(of.renderer, observation, ref, task);
      const room = Math.max(1, samplingOf(config, policy as PolicyId).min_tokens ?? 0);
      if (length + room > of.tokenLimit)
        tooLong.push(
          `The prompt of task ${task} of ${ref.id} has ${length} tokens, which leaves no room for an answer within ${of.tokenLimit}`,
        );
    }
    rendered += count;
    if (tooLong.length > 0 && tooLong.length === count)
      throw new MrlmError("SEQUENCE_TOO_LONG", `${tooLong[0]}; so do all ${count} that were rendered.`);
    if (tooLong.length > 0)
      notices.push(
        `${tooLong[0]}; ${tooLong.length} of ${count} rendered prompts are too long, and their episodes fail.`,
      );
  }
  return { rendered, notices };
}

/**
 * Renders the prompt of the first task of each environment, and that after a call of a tool where there are tools. Rejects with the renderer's error, which names
 * what to set. An environment that fails is left to the run, which records it.
 */
export async function checkTemplates(playing: Playing, host: EnvironmentHost, signal: AbortSignal): Promise<void> {
  const { config } = playing;
  const { renderers } = renderersOf(config);
  // The first of equal ones stays.
  const all = rehearsed(playing).toReversed();
  const different = new Map(all.map((each) => [JSON.stringify([each.ref, each.players]), each]));
  for (const { ref, tasks, players } of different.values()) {
    const [task] = tasks;
    if (task === undefined) continue;
    const observation = await firstObservation(host, ref, task, config.seed, signal).catch(() => undefined);
    const policy = observation === undefined ? undefined : policyOf(players, observation.agent);
    const of = policy === undefined ? undefined : renderers.get(policy);
    if (of !== undefined) promptOf(of.renderer, observation as Observation, ref, task);
  }
}

/** Returns the renderers of the policies, and a notice for each policy without one: a remote engine reads the directory of a model from its own disk. */
function renderersOf(config: ResolvedConfig) {
  const notices: string[] = [];
  const renderers = new Map<PolicyId, PolicyRenderer>();
  for (const { policy } of trainedPolicies(config)) {
    const { source } = policyOptions(config, policy);
    if (source.kind === "directory" && isRemote(config, policy))
      notices.push(`No prompt of policy "${policy}" is checked: its model is with its engine.`);
    else renderers.set(policy, policyRenderer(config, policy, source));
  }
  return { renderers, notices };
}

function policyRenderer(config: ResolvedConfig, policy: PolicyId, source: ModelSource): PolicyRenderer {
  const keys = config.policies[policy] ?? {};
  const longest = config.sampling.max_sequence_tokens ?? Number.POSITIVE_INFINITY;
  const limit = (positions: unknown): number =>
    typeof positions === "number" ? Math.min(positions, longest) : longest;
  if (source.kind === "directory") {
    const { renderer, maxPositions } = directoryRenderer(source.path, keys);
    return { renderer, tokenLimit: limit(maxPositions) };
  }
  if (source.kind !== "random") throw new MrlmError("INTERNAL", `Policy "${policy}" is a copy.`);
  const eosTokenIds = [source.config["eos_token_id"] ?? []].flat().filter((id) => typeof id === "number");
  return {
    renderer: chatRenderer({ tokenizerFiles: source.tokenizerFiles, eosTokenIds, ...renderingOf(keys) }),
    tokenLimit: limit(source.config["max_position_embeddings"]),
  };
}

/** Returns tasks of the training split and of the evaluation, of each environment. */
function rehearsed({ environments, evaluation }: Playing): Rehearsed[] {
  return [
    ...environments.map(({ ref, splits, players = "policy" }) => ({
      ...{ ref, players },
      tasks: evenly(splits["train"] ?? 0).map((index): TaskId => `train/${index}`),
    })),
    ...evaluation.map(({ ref, tasks, players }) => ({
      ...{ ref, players },
      tasks: evenly(tasks.length).map((index) => tasks[index] as TaskId),
    })),
  ];
}

/** Returns up to {@link TASKS} indices below a size, from the first to the last. */
function evenly(size: number): number[] {
  const count = Math.min(TASKS, size);
  return Array.from({ length: count }, (_, i) => (count === 1 ? 0 : Math.round((i * (size - 1)) / (count - 1))));
}

async function firstObservation(
  host: EnvironmentHost,
  ref: EnvironmentRef,
  task: TaskId,
  seed: number,
  signal = new AbortController().signal,
): Promise<Observation> {
  const session = await host.open(ref);
  try {
    const seeded = session.description.determinism === "none" ? {} : { seed };
    return await session.reset({ task, ...seeded, signal });
  } finally {
    await session.close();
  }
}

/** Returns the policy that plays an agent with its present weights; `undefined` for another player. */
function policyOf(players: RolloutRequest["players"], agent: string): PolicyId | undefined {
  if (typeof players === "string") return players;
  const player = ownMember(players, roleOf(agent));
  return player?.kind === "policy" ? player.policy : undefined;
}

/** Renders a prompt, and the one after a call of a tool. The error of a renderer knows no task. */
function promptOf(
  renderer: Renderer,
  { messages, tools }: Observation,
  { id }: EnvironmentRef,
  task: TaskId,
): { readonly length: number } {
  try {
    const { tokens } = renderer.render(messages, tools);
    const [tool] = tools ?? [];
    if (tool !== undefined) renderer.render([...messages, ...toolTurn(tool.name)], tools);
    return tokens;
  } catch (error) {
    if (!MrlmError.isInstance(error)) throw error;
    throw new MrlmError(error.code, `The prompt of task ${task} of ${id} cannot be rendered. ${error.message}`, {
      hint: error.hint,
      cause: error,
    });
  }
}

/** Returns a call of a tool with its result. */
function toolTurn(name: string): Message[] {
  const id = "aB3dE5f7G";
  const content = [{ type: "text" as const, text: "a" }];
  return [
    { role: "assistant", parts: [{ type: "tool-call", id, name, arguments: {} }] },
    { role: "tool", parts: [{ type: "tool-result", id, name, content, isError: false }] },
  ];
}
