import { chatRenderer } from "@mrlm/kit/renderer";
import { MrlmError, type Observation, type PolicyId, type Renderer, roleOf, type TaskId } from "@mrlm/spec";
import type { EnvironmentHost, EnvironmentRef, ModelSource, RolloutRequest } from "@mrlm/spec/host";
import { isRemote } from "../config/engines.ts";
import { samplingOf, trainedPolicies } from "../config/policies.ts";
import type { ResolvedConfig } from "../config/resolve-config.ts";
import { ownMember } from "../names/own-member.ts";
import { directoryRenderer } from "../run/directory-renderer.ts";
import { policyOptions } from "./model-source.ts";
import type { PreparedRun } from "./prepare-run.ts";

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
  const notices: string[] = [];
  const renderers = new Map<PolicyId, PolicyRenderer>();
  for (const { policy } of trainedPolicies(config)) {
    const { source } = policyOptions(config, policy);
    // A remote engine reads the directory of a model from its own disk.
    if (source.kind === "directory" && isRemote(config, policy))
      notices.push(`No prompt of policy "${policy}" is checked: its model is with its engine.`);
    else renderers.set(policy, policyRenderer(config, policy, source));
  }
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

function policyRenderer(config: ResolvedConfig, policy: PolicyId, source: ModelSource): PolicyRenderer {
  const toolFormat = config.policies[policy]?.tool_format;
  const format = toolFormat === undefined ? {} : { toolFormat };
  const longest = config.sampling.max_sequence_tokens ?? Number.POSITIVE_INFINITY;
  const limit = (positions: unknown): number =>
    typeof positions === "number" ? Math.min(positions, longest) : longest;
  if (source.kind === "directory") {
    const { renderer, maxPositions } = directoryRenderer(source.path, toolFormat);
    return { renderer, tokenLimit: limit(maxPositions) };
  }
  if (source.kind !== "random") throw new MrlmError("INTERNAL", `Policy "${policy}" is a copy.`);
  const eosTokenIds = [source.config["eos_token_id"] ?? []].flat().filter((id) => typeof id === "number");
  return {
    renderer: chatRenderer({ tokenizerFiles: source.tokenizerFiles, eosTokenIds, ...format }),
    tokenLimit: limit(source.config["max_position_embeddings"]),
  };
}

/** Returns tasks of the training split and of the evaluation, of each environment. */
function rehearsed({ environments, evaluation }: PreparedRun): Rehearsed[] {
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
): Promise<Observation> {
  const session = await host.open(ref);
  try {
    const seeded = session.description.determinism === "none" ? {} : { seed };
    return await session.reset({ task, ...seeded, signal: new AbortController().signal });
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

/** Renders a prompt. The error of a renderer knows no task. */
function promptOf(
  renderer: Renderer,
  { messages, tools }: Observation,
  { id }: EnvironmentRef,
  task: TaskId,
): { readonly length: number } {
  try {
    return renderer.render(messages, tools).tokens;
  } catch (error) {
    if (!MrlmError.isInstance(error)) throw error;
    throw new MrlmError(error.code, `The prompt of task ${task} of ${id} cannot be rendered. ${error.message}`, {
      hint: error.hint,
      cause: error,
    });
  }
}
