import { answerPlace } from "@mrlm/kit";
import {
  dataFile,
  difficultyRange,
  type FamilyMixture,
  familyMixture,
  refuseBesideData,
  removedKeys,
} from "@mrlm/kit/options";
import { z } from "zod";
import { FAMILY_NAMES, type FamilyName, GENERATORS } from "./generators/index.ts";
import { PRESET_NAMES, WEIGHTS } from "./rewards.ts";

const id = z.string().regex(/^[a-z][a-z0-9-]*(@\d+)?$/, "must be the id of a plugin's service, such as calculator@1");

/** Options of `tools@2` as a user writes them. */
const givenOptions = z.strictObject({
  toolsets: z
    .array(id)
    .min(1)
    .refine((ids) => new Set(ids).size === ids.length, "names a toolset twice: a policy calls tools by their names")
    .default(["calculator@1", "files@1", "web@1"])
    .describe("Toolsets that a policy has in every episode"),
  turns: z.int().min(1).max(100).default(5).describe("Turns of an episode, with that of the answer"),
  families: familyMixture(FAMILY_NAMES)
    .optional()
    .describe(
      "Kinds of generated tasks, mixed evenly, or a weight for each: {table: 3, site: 1}; default: all that the toolsets and turns permit",
    ),
  difficulty_range: difficultyRange.default([1, 5]).describe("One difficulty or [lowest, highest], 1 to 10"),
  eval_difficulty_range: difficultyRange.optional().describe("That of the eval split, where it differs"),
  style: z.enum(["prose", "terse"]).default("prose").describe("terse: as few characters as can be, for small models"),
  answer_schema: answerPlace
    .default("answer")
    .describe(
      "Where the answer belongs: boxed is \\boxed{...}, gsm8k is #### ..., text is the whole reply, any other name is a tag, such as <answer>...</answer>",
    ),
  rewards: z
    .strictObject(
      {
        preset: z.enum(PRESET_NAMES).default("outcome").describe("Weights of all terms that are not given"),
        ...WEIGHTS,
      },
      removedKeys({
        undecided:
          "it was removed: an answer that cannot be read or decided is wrong and earns what a wrong answer earns, so leave it out",
      }),
    )
    .prefault({}),
  scorers: z
    .array(id)
    .min(1)
    .default(["math@2"])
    .describe("Scorers that rows may name; the first grades rows that name none"),
  data: dataFile.optional().describe("Tasks from a file instead of the generators"),
  train_size: z.int().min(1).max(100_000_000).default(100_000).describe("Generated training tasks"),
  eval_size: z.int().min(1).max(10_000_000).default(1_000).describe("Generated held-out tasks"),
  task_seed: z.int().default(0).describe("Another seed gives other tasks, and another division of a file"),
});

type GivenOptions = z.output<typeof givenOptions>;

/** Parsed options of `tools@2`. */
export interface ToolsOptions extends Omit<GivenOptions, "families"> {
  /** Families of the generators; empty with tasks from a file. */
  readonly families: FamilyMixture<FamilyName>;
}

/** Options without effect on tasks from a file. */
const OF_GENERATORS = ["families", "difficulty_range", "eval_difficulty_range", "train_size", "eval_size"];

/** Schema of the options. Refuses those without effect, and generators whose tasks cannot be solved with the toolsets or turns. */
export const toolsOptions: z.ZodType<ToolsOptions> = refuseBesideData(givenOptions, OF_GENERATORS).transform(
  (options, context) => {
    if (options.data !== undefined) return { ...options, families: [] };
    const obstacles = (name: FamilyName): string | undefined => obstacleOf(name, options);
    const wanted = options.families;
    const families = wanted ?? FAMILY_NAMES.filter((name) => obstacles(name) === undefined);
    for (const name of wanted === undefined ? [] : namesOf(wanted)) {
      const message = obstacles(name);
      if (message !== undefined) context.addIssue({ code: "custom", path: ["families"], message, input: wanted });
    }
    if (Array.isArray(families) && families.length === 0)
      context.addIssue({
        code: "custom",
        path: ["toolsets"],
        message: "no generator has tasks for these toolsets and turns: name a file with tasks in `data`",
        input: options.toolsets,
      });
    return { ...options, families };
  },
);

/** Returns the name of a service without its version. */
export function baseName(service: string): string {
  return service.split("@")[0] as string;
}

function namesOf(families: FamilyMixture<FamilyName>): FamilyName[] {
  if (Array.isArray(families)) return [...families];
  return (Object.entries(families) as [FamilyName, number][]).flatMap(([name, weight]) => (weight > 0 ? [name] : []));
}

/** Returns the reason why the tasks of a family cannot be solved. */
function obstacleOf(name: FamilyName, { toolsets, turns }: GivenOptions): string | undefined {
  const generator = GENERATORS[name];
  const missing = generator.toolsets.filter((wanted) => !toolsets.some((toolset) => baseName(toolset) === wanted));
  if (missing.length > 0) return `${name} needs the toolsets ${missing.join(", ")}: add them to \`toolsets\``;
  return generator.turns > turns ? `${name} needs ${generator.turns} turns: raise \`turns\`` : undefined;
}
