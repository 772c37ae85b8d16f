import type { MeasuredSet } from "./measure-task-set.ts";

/** Row of the table, as text. */
export interface Row {
  readonly reference: string;
  readonly empty: string;
  readonly same: string;
  readonly digest: string;
}

/** Set, with its entries in other processes. */
export interface ComparedSet extends MeasuredSet {
  /** Whether a new process of python-env@1 makes the same tasks. */
  readonly same: boolean;
  /** Whether the library alone does, in processes with other hash seeds, other shared streams, and in another order. */
  readonly upstreamSame: boolean;
  /** Whether its checker runs an answer as code. */
  readonly runsCode: boolean;
}

/** Deviation of a set, with the lines of Python that show it. */
interface Deviation {
  readonly text: string;
  readonly script?: string;
}

/** Causes of what checks found, as lines that print it without `mrlm`. */
const CAUSES: Readonly<Record<string, Deviation>> = {
  circuit_logic: {
    text: "There are two answers: a constant one is right in half of the entries.",
    script: 'print(sum(data[i]["answer"] == "0" for i in range(100)))  # 56',
  },
  coin_flip: {
    text: "The answer 0 has the full score of almost every entry.",
    script: 'print(sum(data.score_answer("0", data[i]) == 1 for i in range(100)))  # 95',
  },
  complex_arithmetic: {
    text: "NaN has the full score: `min(1.0, math.exp(-nan))` is 1.",
    script: 'print(data.score_answer("NaN", data[0]))  # 1.0',
  },
  game_of_life_halting: {
    text: "Every text has the full score: `bool` of it is compared with `bool` of the reference answer.",
    script: 'print(data.score_answer("x", data[0]))  # 1.0',
  },
  knight_swap: {
    text: "Two boards without a solution differ in their signs, which the check does not read: no fault.",
  },
  puzzle24: {
    text: "The checker does not compare the numbers of an answer with those of the question.",
    script: 'print(data.score_answer(data[0]["answer"], data[1]))  # 1.0',
  },
  sokoban: {
    text: "The checker takes the letters of any text as moves: questions solve some of their own boards.",
    script: 'print(sum(data.score_answer(data[i]["question"], data[i]) == 1 for i in range(100)))  # 1',
  },
  syllogism: {
    text: "There are two answers: Yes is right in most entries.",
    script: 'print(sum(data[i]["answer"] == "Yes" for i in range(100)))  # 71',
  },
  word_sequence_reversal: { text: "The search reverses lists, which solves this set: no fault." },
};

/** Returns the page with the table of all sets, and the deviations. */
export function tableOf(
  version: string,
  sets: readonly ComparedSet[],
  kwargs: Readonly<Record<string, unknown>>,
): string {
  const deviating = sets
    .map((set) => ({ set, all: deviationsOf(set, kwargs[set.name]) }))
    .filter(({ all }) => all.length > 0);
  const refused = sets.filter((set) => set.refused !== undefined);
  const withAnswers = sets.filter(({ reference }) => reference !== null);
  const code = sets.filter(({ runsCode }) => runsCode);
  const full = withAnswers.filter(({ reference }) => reference === 1);
  return `# Task sets of reasoning-gym ${version}

Made by \`test/interop/python-env/reasoning-gym.ts\`, which plays each set by \`python-env@1\` in the version ${version}. \`npm run test:interop -- python-env\` compares some rows.

- **reference**: mean score, by the checker of the set, of the reference answers of the first 50 training tasks (\`knight_swap\`, whose entries take seconds: 12); \`none\`: the set states no answer.
- **empty**: largest score of an empty answer in them.
- **same**: \`yes\`: a new process of \`python-env@1\` makes the same tasks, and so does the library alone in another process, with another \`PYTHONHASHSEED\` and in another order; \`here\`: only \`python-env@1\`,
  which seeds what a set draws from shared streams; \`no\`: neither.
- **check**: findings of the checks of \`mrlm check\` with \`partial_credit: false\`; of sets that take half a second for a task, on 65 tasks.
- **tasks**: digest of the first 20 training tasks.

${sets.length} sets: ${refused.length} refused, ${sets.length - withAnswers.length - refused.length} without a reference answer, ${full.length} of ${withAnswers.length} others whose reference answers all have the full score.

| set | reference | empty | same | check | tasks |
| --- | --- | --- | --- | --- | --- |
${sets.map(rowOf).join("\n")}

## Answers that are run as code

The checkers of these sets evaluate the answer: ${code.map(({ name }) => `\`${name}\``).join(", ")}. \`python-env@1\` refuses files, processes and sockets to them, which is no sandbox: see [security](README.md#security).

## Deviations

Faults of the library, with lines that show each without \`mrlm\`.

${deviating.map(({ set, all }) => [`### ${set.name}`, ...all.map(describe)].join("\n\n")).join("\n\n")}
`;
}

/** Reads the rows of a page. */
export function rowsOf(page: string): ReadonlyMap<string, Row> {
  const rows = [...page.matchAll(/^\| ([a-z0-9_]+) \| (\S+) \| (\S+) \| (\S+) \| .* \| ([0-9a-f]*) \|$/gm)];
  return new Map(
    rows.map(([, name = "", reference = "", empty = "", same = "", digest = ""]) => [
      name,
      { reference, empty, same, digest },
    ]),
  );
}

function rowOf(set: ComparedSet): string {
  const { name, reference, empty, digest, findings, refused } = set;
  if (refused !== undefined) return `| ${name} | - | - | - | refused | |`;
  const codes = [...new Set(findings.map(codeOf))];
  return `| ${name} | ${reference === null ? "none" : shown(reference)} | ${shown(empty)} | ${sameness(set)} | ${codes.length === 0 ? "clean" : codes.join(", ")} | ${digest} |`;
}

function sameness({ same, upstreamSame }: ComparedSet): string {
  return same ? (upstreamSame ? "yes" : "here") : "no";
}

function codeOf(finding: string): string {
  return /^([A-Z_]+): /.exec(finding)?.[1] ?? "failed";
}

function shown(score: number): string {
  return String(Number(score.toFixed(3)));
}

function deviationsOf(set: ComparedSet, kwargs: unknown): readonly Deviation[] {
  const { name, refused, reference, below, empty, findings, upstreamSame, same } = set;
  if (refused !== undefined) return [{ text: `Cannot be played: ${refused}` }];
  const cause = CAUSES[name];
  const make = (seed: number): string =>
    `data = reasoning_gym.create_dataset("${name}", seed=${seed}, size=500${kwargs === undefined ? "" : ", ..."})`;
  return [
    ...(reference === null
      ? [
          {
            text: "States no reference answer: it has no demonstrations.",
            script: `${make(0)}\nprint(data[0]["answer"])  # None`,
          },
        ]
      : []),
    ...(below === undefined
      ? []
      : [
          {
            text: `The checker gives a reference answer ${shown(below.score)}, and ${shown(reference ?? 0)} in the mean.`,
            script: `${make(below.seed)}\nentry = data[${below.index}]\nprint(data.score_answer(entry["answer"].strip(), entry))  # ${shown(below.score)}`,
          },
        ]),
    ...(empty > 0
      ? [
          {
            text:
              empty === 1
                ? "An empty answer has the full score in some tasks: the reference answer is empty there, or the checker is at fault."
                : `The checker gives an empty answer up to ${shown(empty)}: with \`partial_credit\` that is a reward for nothing.`,
            script: `${make(0)}\nprint(max(data.score_answer("", data[i]) for i in range(50)))  # ${shown(empty)}`,
          },
        ]
      : []),
    ...(upstreamSame
      ? []
      : [
          {
            text: `Entries of one seed depend on \`PYTHONHASHSEED\`, on the stream that all code shares, or on what was made before.${same ? " `python-env@1` sets both: its tasks are the same." : ""}`,
            script: `${make(0)}\nprint(data[0], data[1])  # run it with PYTHONHASHSEED=1 and 2, and with data[1] first`,
          },
        ]),
    ...findings.map((finding) => ({ text: `Check: ${finding}` })),
    ...(findings.length > 0 && cause !== undefined
      ? [{ ...cause, ...(cause.script !== undefined && { script: `${make(0)}\n${cause.script}` }) }]
      : []),
  ];
}

function describe({ text, script }: Deviation): string {
  return script === undefined ? text : `${text}\n\n\`\`\`python\n${script}\n\`\`\``;
}
