import { expect, test } from "@jest/globals";
import { MODULES } from "../generate/modules.ts";
import { repairTask } from "../generate/repair-task.ts";

test("a task depends on its seed and index alone, and each one differs", () => {
  const some = (seed: number) => Array.from({ length: 40 }, (_, index) => repairTask(seed, index).files);
  expect(some(3)).toEqual(some(3));
  const histories = [...some(3), ...some(4)].map((files) => files["environment/setup.py"]);
  expect(new Set(histories).size).toBe(80);
});

test("each module has a fault of each kind, and the tasks have all of them", () => {
  for (const { name, faults } of MODULES)
    expect([name, new Set(faults.map(({ kind }) => kind)).size]).toEqual([name, 5]);
  const planted = Array.from({ length: 400 }, (_, index) => repairTask(0, index)).map(
    ({ module, fault }) => `${module.name} ${fault.kind}`,
  );
  expect(new Set(planted).size).toBe(30);
});

test("the history of a task has the right module, then the wrong one", () => {
  for (let index = 0; index < 100; index++) {
    const { files, fault, module } = repairTask(1, index);
    const [, text = ""] = /json\.loads\((".*")\)$/m.exec(files["environment/setup.py"] as string) ?? [];
    const commits = JSON.parse(JSON.parse(text) as string) as [string, Record<string, string>][];
    const versions = commits.flatMap(([, written]) => written[`${module.name}.py`] ?? []);
    expect(versions).toEqual([module.source, module.source.replace(fault.right, () => fault.wrong)]);
  }
});
