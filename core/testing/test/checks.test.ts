import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";
import { randomStream } from "@mrlm/kit";
import type { AnyPlugin } from "../src/any-plugin.ts";
import { FINDINGS } from "../src/check/codes.ts";
import { CONTRACT_CODES } from "../src/check/codes/contract-codes.ts";
import { DATA_CODES } from "../src/check/codes/data-codes.ts";
import { DETERMINISM_CODES } from "../src/check/codes/determinism-codes.ts";
import { OPTION_CODES } from "../src/check/codes/option-codes.ts";
import { PROVISION_CODES } from "../src/check/codes/provision-codes.ts";
import { REWARD_CODES } from "../src/check/codes/reward-codes.ts";
import { checkPlugin } from "../src/check-plugin/check-plugin.ts";
import { describeDifference } from "../src/contract/recorded-episode.ts";
import { ReturnedValues } from "../src/contract/returned-values.ts";

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  readonly version: string;
};
const FOLDER = new URL("../fixtures/broken/", import.meta.url);

interface BrokenPackage {
  readonly name: string;
  readonly expects: string;
  /** Whether a quick check does not find the defect, or takes more than a few seconds. */
  readonly slow?: boolean;
}

const BROKEN = readdirSync(FOLDER).map(
  (name) => JSON.parse(readFileSync(new URL(`${name}/package.json`, FOLDER), "utf8")) as BrokenPackage,
);

/** Classes of codes that a check in one process finds quickly. Those of packages need the process of `mrlm check`. */
const CLASSES: Readonly<Record<string, object>> = {
  contract: CONTRACT_CODES,
  data: DATA_CODES,
  determinism: DETERMINISM_CODES,
  options: OPTION_CODES,
  provisions: PROVISION_CODES,
  rewards: REWARD_CODES,
};

/** Two broken plugins of each class. They change with the version of the package; `npm run test:faults -- broken` checks all. */
const SAMPLE = Object.entries(CLASSES).flatMap(([name, codes]) => {
  const all = BROKEN.filter(({ expects, slow = false }) => !slow && Object.hasOwn(codes, expects));
  const random = randomStream(`${name} ${version}`, 0);
  return Array.from({ length: 2 }, () => all.splice(random.integer(0, all.length - 1), 1)).flat();
});

test.each(SAMPLE)("checkPlugin finds the defect of $name in this process, and nothing else", async (broken) => {
  const folder = new URL(`${broken.name}/`, FOLDER);
  const packageJson = broken as unknown as Record<string, unknown>;
  const { default: plugin } = (await import(new URL("index.js", folder).href)) as { readonly default: AnyPlugin };
  const subject = { directory: fileURLToPath(folder), packageJson, plugin, plugins: [plugin] };
  const codes: string[] = [];
  for await (const event of checkPlugin(subject, { quick: true }))
    if (event.event === "finding") codes.push(event.finding.code);
  expect(codes).toEqual([broken.expects]);
});

test("each broken plugin states a code of the table, and each class of codes has two that are found quickly", () => {
  for (const { expects } of BROKEN) expect(Object.keys(FINDINGS)).toContain(expects);
  expect(SAMPLE).toHaveLength(2 * Object.keys(CLASSES).length);
});

const user = (text: string): object => ({ role: "user", parts: [{ type: "text", text }] });
const ended = { terminated: { agent: true }, truncated: { agent: false } };
const step = (more: object): object => ({ observation: { agent: "", messages: [] }, rewards: {}, ...ended, ...more });

/** Returns the messages of the defects of values that an environment returned one after the other. */
function defectsOf(...values: readonly (readonly ["reset" | "step" | "tasks.get", unknown])[]): string[] {
  const returned = new ReturnedValues();
  for (const [call, value] of values) returned.listener(call, value);
  return returned.defects.map(({ code, message }) => `${code} ${message}`);
}

test("values that are JSON have no defect", () => {
  const picture = { type: "image", mediaType: "image/png", source: { data: Buffer.of(1) } };
  const bare = Object.assign(Object.create(null) as object, { text: "\u{1F9EA}" });
  expect(
    defectsOf(
      ["reset", { agent: "agent", messages: [{ role: "user", parts: [picture] }], tools: undefined, info: { bare } }],
      ["step", step({ observation: { agent: "", messages: [], info: undefined }, info: undefined })],
      ["tasks.get", { id: "train/0", public: {}, private: { answers: [null, true, -0, ""] } }],
    ),
  ).toEqual([]);
  expect(defectsOf(["step", undefined])).toEqual(["VALUE_NOT_JSON step returned undefined."]);
});

test.each([
  [{ a: [1, { b: Number.POSITIVE_INFINITY }] }, "info.a[1].b, which is Infinity"],
  [{ a: () => 1 }, "info.a, which is a function"],
  [{ a: 1n }, "info.a, which is a bigint"],
  // oxlint-disable-next-line no-sparse-arrays
  [{ a: [1, , 2] }, "info.a, which is an array without an element 1"],
  [{ a: Uint8Array.of(1) }, "info.a, which is bytes"],
  [{ a: new Map() }, "info.a, which is an instance of Map"],
  [{ a: undefined }, "info.a, which is undefined"],
])("a value that is not JSON is named with its path: %o", (info, text) => {
  expect(defectsOf(["step", step({ info })])).toEqual([`VALUE_NOT_JSON step returned ${text}.`]);
});

test("nested values do not overflow the stack", () => {
  let info: object = {};
  for (let depth = 0; depth < 100_000; depth++) info = { info };
  expect(defectsOf(["step", step({ info })])).toEqual([
    expect.stringMatching(/^VALUE_NOT_JSON step returned info\.info.* more than 1,000 levels\.$/),
  ]);
});

test("half characters are found in texts and keys, large messages by their bytes, unknown members at every level", () => {
  expect(defectsOf(["reset", { agent: "agent", messages: [user("ab\uDE00")] }])).toEqual([
    String.raw`TEXT_CUT reset returned messages[0].parts[0].text, whose text has half of a character: "ab\ude00".`,
  ]);
  expect(defectsOf(["tasks.get", { id: "train/0", public: { "\uD83E": 1 }, private: {} }])).toEqual([
    String.raw`TEXT_CUT tasks.get returned the key "\ud83e" in public.`,
  ]);
  expect(defectsOf(["reset", { agent: "agent", messages: [user("é".repeat(600_000))] }])).toEqual([
    "MESSAGE_TOO_LARGE reset returned messages[0] with 1.1 MiB; the limit is 1 MiB.",
  ]);
  expect(
    defectsOf(["step", step({ rewards: { agent: { scored: true, value: 1, components: {}, note: "" } } })]),
  ).toEqual([
    "MEMBER_UNKNOWN step returned rewards.agent.note, which is no member of a score: scored, value, components.",
  ]);
});

test("an agent that has ended stays ended, and ends in one way, until the next reset", () => {
  const back = step({ terminated: { agent: false } });
  const message = 'END_CONTRADICTED step returned agent "agent" as neither terminated nor truncated after its end.';
  expect(defectsOf(["step", step({})], ["step", back])).toEqual([message]);
  expect(defectsOf(["step", step({})], ["reset", { agent: "agent", messages: [] }], ["step", back])).toEqual([]);
  expect(defectsOf(["step", step({ truncated: { agent: true } })])).toEqual([
    'END_CONTRADICTED step returned agent "agent" as both terminated and truncated.',
  ]);
});

test("the difference of two transcripts names the place and the texts around it", () => {
  expect(describeDifference(["a", "b"], ["a", "b"])).toBeUndefined();
  expect(describeDifference(["a", `${"x".repeat(50)}1`], ["a", `${"x".repeat(50)}2`])).toBe(
    `the result of turn 1 has \`${"x".repeat(40)}2\` instead of \`${"x".repeat(40)}1\``,
  );
  expect(describeDifference(["a", "b"], ["a"])).toBe("the result of turn 1 has `the end` instead of `b`");
});
