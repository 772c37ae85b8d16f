import { expect, test } from "@jest/globals";
import { deskOptions } from "../src/options.ts";
import { deskTasks, DOMAINS } from "../src/tasks.ts";
import { decide } from "../src/case.ts";

test("20,000 tasks: no request about a case of eval stands in train, and no kind of decision is frequent", async () => {
  const tasks = deskTasks(deskOptions.parse({ train_size: 18_000, eval_size: 2_000 }));
  const kinds = new Map<string, number>();
  const keysOf = async (split: string, count: number): Promise<string[]> =>
    Promise.all(
      Array.from({ length: count }, async (_, i) => {
        const { public: shown, private: hidden } = await tasks.get(split, i);
        const own = hidden.goals.map((goal) => {
          const found = hidden.cases.find(({ number }) => number === goal.number) as (typeof hidden.cases)[number];
          const { action, value } = decide(DOMAINS[shown.domain], found, goal);
          const kind = `${shown.domain} ${action} ${action === "change" ? "" : value}`;
          kinds.set(kind, (kinds.get(kind) ?? 0) + 1 / hidden.goals.length);
          return [goal, found];
        });
        return JSON.stringify([shown.domain, own]);
      }),
    );
  const train = new Set(await keysOf("train", 18_000));
  const held = await keysOf("eval", 2_000);
  expect(held.filter((key) => train.has(key))).toEqual([]);
  expect(train.size).toBeGreaterThan(17_900);
  expect(Math.max(...kinds.values()) / 20_000).toBeLessThan(0.15);
});
