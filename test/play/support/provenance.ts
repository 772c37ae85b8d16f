import type { ModelId, Segment, TrajectoryGroup } from "@mrlm/spec";
import type { PlayedBy } from "@mrlm/spec/host";
import type { recordingEngine } from "@mrlm/testing";

type RecordedLearning = ReturnType<typeof recordingEngine>["asked"];
type RecordedSample = RecordedLearning["samples"][number];

/** Samples of each model, for the question which of them drew a token. */
export class Provenance {
  readonly #samples = new Map<ModelId, Set<string>>();

  constructor(samples: readonly RecordedSample[]) {
    for (const { model, tokens, start } of samples) {
      const keys = this.#samples.get(model) ?? new Set();
      this.#samples.set(model, keys.add(key(tokens, start)));
    }
  }

  /** Counts the masked tokens of a sequence that a model has not sampled at their place. */
  foreignTokens({ tokens, mask }: Pick<Segment, "tokens" | "mask">, model: ModelId): number {
    const own = this.#samples.get(model) ?? new Set();
    let foreign = 0;
    for (let start = mask.indexOf(1); start >= 0;) {
      const end = endOf(mask, start);
      if (!own.has(key(tokens.subarray(0, end), start))) foreign += end - start;
      start = mask.indexOf(1, end);
    }
    return foreign;
  }
}

/** Counts the trained tokens of all passes of a model, and those of them that the model has not sampled. */
export function trainedTokens(
  { passes, samples }: Pick<RecordedLearning, "passes" | "samples">,
  model: ModelId,
): { readonly trained: number; readonly foreign: number } {
  const provenance = new Provenance(samples);
  let [trained, foreign] = [0, 0];
  for (const pass of passes.filter((each) => each.model === model))
    for (const sequence of pass.units.flatMap(({ sequences }) => sequences)) {
      trained += sequence.mask.reduce((sum, chosen) => sum + chosen, 0);
      foreign += provenance.foreignTokens(sequence, model);
    }
  return { trained, foreign };
}

/**
 * Returns the faults of played groups: members with other players than their group, and parts whose tokens another model has sampled than their player.
 * @param modelOf returns the model of a player; `undefined` for a script
 */
export function playFaults(
  groups: readonly TrajectoryGroup[],
  samples: readonly RecordedSample[],
  modelOf: (player: PlayedBy) => ModelId | undefined,
): string[] {
  const provenance = new Provenance(samples);
  return groups.flatMap(({ id, players, trajectories }) =>
    trajectories.flatMap(({ member, agents }) =>
      Object.entries(agents).flatMap(([agent, { role, player, segments }]) => {
        const where = `${id}/${member} ${agent}`;
        const model = modelOf(player);
        const foreign =
          model === undefined ? 0 : segments.reduce((sum, each) => sum + provenance.foreignTokens(each, model), 0);
        return [
          ...(JSON.stringify(players[role]) === JSON.stringify(player)
            ? []
            : [`${where}: played by ${player.name}, and its group by ${players[role]?.name}`]),
          ...(foreign > 0 ? [`${where}: ${foreign} tokens that ${player.name} has not sampled`] : []),
          ...(model === undefined && segments.length > 0 ? [`${where}: tokens of a script`] : []),
        ];
      }),
    ),
  );
}

function key(tokens: Int32Array, start: number): string {
  return `${start}:${tokens.join(",")}`;
}

function endOf(mask: Uint8Array, start: number): number {
  const end = mask.indexOf(0, start);
  return end < 0 ? mask.length : end;
}
