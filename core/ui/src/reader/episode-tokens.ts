import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { loadTokenizer, type TextTokenizer } from "@mrlm/kit/renderer";
import { RunDirectory } from "@mrlm/runtime";
import { MrlmError, type Segment, type Trajectory } from "@mrlm/spec";
import { isStore } from "@mrlm/store";
import { notFound, storedEpisode, withEpisodes } from "./run-episodes.ts";
import { sampledValues } from "./sampled-values.ts";

/** Text of a token alone. */
export interface TokenShape {
  readonly text: string;
  /** Whether it is a marker of a role, the end of a turn or of a call. */
  readonly isSpecial: boolean;
}

/**
 * Tokens of an episode as little-endian bytes: for each agent in the order of `agents`, for each of its segments of n tokens, `tokens` (int32, n),
 * `logprobs` (float32, n), `versions` (int32, n), `advantages` (float32, n; NaN where no learner has used the token), `trainer` (float32, n: log-probabilities
 * under the trainer's weights; NaN where they were not computed), `mask` (uint8, n, with zeros up to a multiple of 4).
 */
export function episodeTokens(run: string, key: number): Uint8Array {
  const bytes = withEpisodes(run, (reader) => {
    const { trajectory } = storedEpisode(reader, run, key);
    const credits = reader.credits(key);
    return Buffer.concat(
      Object.entries(trajectory.agents).flatMap(([agent, { segments }]) => {
        const own = credits.filter((credit) => credit.agent === agent);
        const learnt = {
          advantages: sampledValues(segments, own, "advantage"),
          trainer: sampledValues(segments, own, "logprobs"),
        };
        return segments.flatMap((segment, i) => bytesOf(segment, learnt.advantages[i], learnt.trainer[i]));
      }),
    );
  });
  if (bytes === undefined) throw notFound(run, key);
  return bytes;
}

/** Returns the text of each token id in an episode. Ids without a tokenizer are left out. */
export function episodeTexts(run: string, key: number): Readonly<Record<string, TokenShape>> {
  const texts = withEpisodes(run, (reader) => {
    const { trajectory } = storedEpisode(reader, run, key);
    const all: Record<string, TokenShape> = {};
    for (const { segments, player } of Object.values(trajectory.agents)) {
      const tokenizer = tokenizerOf(run, player);
      if (tokenizer === undefined) continue;
      for (const token of new Set(segments.flatMap(({ tokens }) => Array.from(tokens))))
        all[token] = {
          text: tokenizer.specials.get(token) ?? tokenizer.decode(Int32Array.of(token)),
          isSpecial: tokenizer.specials.has(token),
        };
    }
    return all;
  });
  if (texts === undefined) throw notFound(run, key);
  return texts;
}

function bytesOf(
  { tokens, logprobs, versions, mask }: Segment,
  advantages: Float32Array | undefined,
  trainer: Float32Array | undefined,
): Uint8Array[] {
  const none = new Float32Array();
  const parts = [tokens, logprobs, versions, advantages ?? none, trainer ?? none].map(
    ({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength),
  );
  return [...parts, mask, new Uint8Array((4 - (mask.length % 4)) % 4)];
}

/** Tokenizers by their directory. A run's never change. */
const tokenizers = new Map<string, TextTokenizer>();
const MAX_TOKENIZERS = 8;

function tokenizerOf(run: string, { policy, name }: Trajectory["agents"][string]["player"]): TextTokenizer | undefined {
  // A store that belongs to no run has no tokenizer beside it.
  if (isStore(run)) return undefined;
  const directory = RunDirectory.open(run);
  const model = [policy, name].find((each) => each !== undefined && isNamed(run, each));
  const key = join(run, model ?? "");
  const known = tokenizers.get(key);
  if (known !== undefined) return known;
  if (model === undefined && !existsSync(join(run, "tokenizer"))) return undefined;
  try {
    const loaded = loadTokenizer(directory.readTokenizer(model));
    const [oldest] = tokenizers.keys();
    if (tokenizers.size === MAX_TOKENIZERS && oldest !== undefined) tokenizers.delete(oldest);
    tokenizers.set(key, loaded);
    return loaded;
  } catch (error) {
    if (MrlmError.hasCode(error, "TOKENIZER_INVALID")) return undefined;
    throw error;
  }
}

/** Whether the run has a tokenizer of its own for a policy or a frozen model. */
function isNamed(run: string, model: string): boolean {
  const folder = join(run, "tokenizers");
  return existsSync(folder) && readdirSync(folder).includes(model);
}
