import type {
  AgentTrajectory,
  JsonObject,
  JsonValue,
  Segment,
  Trajectory,
  TrajectoryGroup,
  TurnRecord,
} from "@mrlm/spec";
import type { PlayedBy } from "@mrlm/spec/host";
import fc from "fast-check";
import { cohort } from "../support/episodes.ts";

/** Objects as JSON.parse makes them. */
function plain<T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> {
  return fc.record(model, { noNullPrototype: true }) as fc.Arbitrary<T>;
}

/** Any text, with lone surrogates and characters that JSON, SQL and C strings treat specially. */
const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom("", "\0 end", "\ud800", "é😀", "$bytes", "__proto__", "' \" \\ %"),
);
const number = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constantFrom(-0, 0, 1));
export const json = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.oneof(number, text, fc.boolean(), fc.constant(null)),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.oneof(text, fc.constantFrom("$bytes", "$number", "$object", "$")), tie("value"), {
      maxKeys: 3,
      noNullPrototype: true,
    }),
  ),
}));
const jsonObject: fc.Arbitrary<JsonObject> = fc.dictionary(text, json.value, { maxKeys: 3, noNullPrototype: true });
const bytes = fc.uint8Array({ maxLength: 20 });
const absent = { freq: 3 };

const player: fc.Arbitrary<PlayedBy> = fc
  .record({
    kind: fc.constantFrom(
      "policy" as const,
      "past" as const,
      "model" as const,
      "endpoint" as const,
      "scripted" as const,
    ),
    name: fc.constantFrom("policy", "optimal"),
    policy: fc.option(fc.constant("policy"), absent),
    version: fc.option(fc.nat(), absent),
  })
  .map(withoutNull);
const reward = fc.oneof(
  plain({
    scored: fc.constant(true as const),
    value: number,
    components: fc.dictionary(text, number, { maxKeys: 2, noNullPrototype: true }),
  }),
  plain({ scored: fc.constant(false as const), code: fc.constant("SCORER_FAILED"), message: text }),
);
const message = plain({
  role: fc.constant("user" as const),
  parts: fc.array(
    fc.oneof(
      plain({ type: fc.constant("text" as const), text }),
      plain({ type: fc.constant("image" as const), data: bytes, mediaType: fc.constant("image/png") }),
    ),
    { maxLength: 2 },
  ),
});
const segment: fc.Arbitrary<Segment> = fc
  .array(fc.tuple(fc.integer(), fc.float(), fc.boolean(), fc.nat(9)), { maxLength: 12 })
  .map((tokens) => ({
    tokens: Int32Array.from(tokens, ([token]) => token),
    logprobs: Float32Array.from(tokens, ([, logprob]) => logprob),
    mask: Uint8Array.from(tokens, ([, , isSampled]) => Number(isSampled)),
    versions: Int32Array.from(tokens, ([, , isSampled, version]) => (isSampled ? version : -1)),
    parent: null,
  }));
const shared = fc
  .tuple(reward, fc.dictionary(text, number, { maxKeys: 2, noNullPrototype: true }))
  .map(([learnt, weights]) => ({ ...learnt, weights }));
const part: fc.Arbitrary<AgentTrajectory> = fc
  .record({
    role: fc.constantFrom("pro", "con"),
    player,
    segments: fc
      .array(segment, { maxLength: 2 })
      .map((all) => all.map((each, i) => ({ ...each, parent: i === 0 ? null : i - 1 }))),
    total: reward,
    end: fc
      .record({
        terminated: fc.boolean(),
        truncated: fc.boolean(),
        truncatedBy: fc.option(fc.constantFrom("environment" as const, "turns" as const, "tokens" as const), absent),
      })
      .map(withoutNull),
    shared: fc.option(shared, absent),
  })
  .map(withoutNull) as fc.Arbitrary<AgentTrajectory>;
const turn = fc
  .record({
    agent: fc.constantFrom("pro", "con#2"),
    messages: fc.array(message, { maxLength: 2 }),
    response: message,
    tokens: fc.option(fc.constant({ segment: 0, start: 0, end: 1 }), absent),
    stopReason: fc.constantFrom("stop" as const, "length" as const),
    rewards: fc.dictionary(fc.constantFrom("pro", "con#2"), reward, { maxKeys: 2, noNullPrototype: true }),
  })
  .map(withoutNull) as fc.Arbitrary<TurnRecord>;
const played = fc
  .record({
    turns: fc.array(turn, { maxLength: 2 }),
    agents: fc.dictionary(fc.constantFrom("pro", "con#2", "browser#10", "__proto__"), part, {
      maxKeys: 3,
      noNullPrototype: true,
    }),
    error: fc.option(plain({ code: fc.constant("ENVIRONMENT_FAILED"), message: text }), absent),
    info: fc.option(jsonObject, absent),
    seconds: plain({ sampling: fc.double({ min: 0, max: 9, noNaN: true }), environment: fc.constant(0.1) }),
  })
  .map(withoutNull);

function withoutNull<T extends object>(value: T): { [K in keyof T]: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null)) as never;
}

/** The only group of the cohort of a step, with two episodes of any content. */
export function anyGroup(step: number): fc.Arbitrary<TrajectoryGroup> {
  const [plan] = cohort("0/policy", step, 0, { groups: 1 }).groups;
  const { id: group, task, seed } = plan as NonNullable<typeof plan>;
  return fc
    .tuple(
      fc.array(played, { minLength: 2, maxLength: 2 }),
      fc.dictionary(fc.constantFrom("pro", "con"), player, { noNullPrototype: true }),
    )
    .map(([episodes, players]) => ({
      ...{ id: group, task, players },
      trajectories: episodes.map((each, member): Trajectory => {
        const head = { id: `${group}/${member}`, environment: "game@1", task, seed, group, member };
        return { ...head, ...each };
      }),
    }));
}
