import type { RandomStream } from "@mrlm/kit";
import type { Generator } from "./generator.ts";
import { codes, projectNames } from "./names.ts";

const FIELDS = { budget: "Budget", hours: "Hours", samples: "Samples", pages: "Pages", visits: "Visits" } as const;
const TEAMS = ["east", "north", "south", "west"];

/** One number in one file of a tree. Names of files have no meaning; from difficulty 4 other files mention the project. */
export const fileTree: Generator = {
  toolsets: ["files"],
  turns: 3,
  generate(random, difficulty) {
    const projects = projectNames(random, 4 + 2 * difficulty);
    const names = codes(random, projects.length);
    const wanted = random.integer(0, projects.length - 1);
    const project = projects[wanted] as string;
    const field = random.pick(Object.keys(FIELDS) as (keyof typeof FIELDS)[]);
    const files: Record<string, string> = {};
    let [path, answer] = ["", ""];
    for (const [i, name] of projects.entries()) {
      const record = recordOf(random);
      const place = placeOf(random, difficulty, names[i] as string);
      const mention = difficulty >= 4 && i !== wanted && random.next() < 0.3 ? [`Follows: ${project}`] : [];
      files[place] = [`Project: ${name}`, ...mention, ...Object.values(record), ""].join("\n");
      if (i === wanted) [path, answer] = [place, (record[field] as string).split(" ").at(-1) as string];
    }
    return {
      prose: `Each file below the directory records describes a project. What is the number of ${field} of the project ${project}?`,
      terse: `${field} of ${project}`,
      answer,
      required: [["search_files", "list_files"], "read_file"],
      files,
      plan: [
        [{ name: "search_files", arguments: { text: `Project: ${project}` } }],
        [{ name: "read_file", arguments: { path } }],
      ],
    };
  },
};

function recordOf(random: RandomStream): Record<string, string> {
  return Object.fromEntries(
    random
      .shuffle(Object.entries(FIELDS))
      .map(([field, label]) => [field, `${label}: ${random.integer(1_000, 99_999)}`]),
  );
}

/** Returns the path of a file, in deeper directories where the task is harder. */
function placeOf(random: RandomStream, difficulty: number, name: string): string {
  const folders = Array.from({ length: 1 + Math.floor(difficulty / 4) }, () => random.pick(TEAMS));
  return ["records", ...folders, `${name}.txt`].join("/");
}
