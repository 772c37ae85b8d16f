import { expect, test } from "@jest/globals";
import { runFunction } from "../../src/grade/run-function.ts";
import { problemOf, type FunctionProblem } from "../../src/problem/problem.ts";
import { gradeMutants, gradeReferences, hasHumanEval, prepareHumanEval } from "./humaneval.ts";
import { describePythonKinds } from "./sandboxes.ts";

const MINUTES = 60_000;
const PROBLEMS = 164;

/** Tests with every `stride`-th problem of HumanEval, in both kinds of Python. */
export function humanEvalTests(stride: number): void {
  const count = Math.ceil(PROBLEMS / stride);
  describePythonKinds(
    "HumanEval",
    (sandbox) => {
      test(
        `${count} reference solutions earn the full reward`,
        async () => {
          const graded = await gradeReferences(sandbox(), stride);
          expect(graded.filter(({ reward }) => reward.value !== 1)).toEqual([]);
          expect(graded).toHaveLength(count);
        },
        20 * MINUTES,
      );

      test(
        `N6: ${count} reference solutions do so behind whatever may stand at the beginning of a program`,
        async () => {
          const before = [
            "from __future__ import annotations\n\n",
            '#!/usr/bin/env python3\n# -*- coding: utf-8 -*-\n"""A solution."""\n\nfrom __future__ import annotations\n',
            "from __future__ import (annotations,\n    generator_stop)\nimport os, sys\n",
            "\ufeff# coding: latin-1\n",
            "\f\nfrom __future__ import annotations; import math\nfrom __future__ import division as later\n",
            "'''A\nsolution.'''\n__all__ = []\nimport math as _math\n",
          ];
          const graded = await gradeReferences(
            sandbox(),
            stride,
            (index) => before[(index / stride) % before.length] as string,
          );
          expect(graded.filter(({ reward }) => reward.value !== 1)).toEqual([]);
        },
        20 * MINUTES,
      );

      test(
        `${count} mutants earn less, and are no mere \`return None\``,
        async () => {
          const graded = await gradeMutants(sandbox(), stride);
          expect(graded.filter(({ reward }) => reward.value >= 1)).toEqual([]);
          expect(graded).toHaveLength(count);
          expect(graded.filter(({ kind }) => kind === "return None").length).toBeLessThanOrEqual(count / 10);
        },
        20 * MINUTES,
      );

      test(
        "examples of a docstring that are wrong are no tests: the reference passes all that are",
        async () => {
          const { tasks } = await prepareHumanEval(sandbox());
          // Their docstrings hold examples that their own tests refuse.
          const wrong = ["HumanEval/47", "HumanEval/125", "HumanEval/46"];
          for (let index = 0; index < PROBLEMS; index++) {
            const task = await tasks.get("train", index);
            if (!wrong.includes(String(task.public["task_id"]))) continue;
            const problem = problemOf(task) as FunctionProblem;
            const { tests } = await runFunction(problem.reference as string, problem, true, {
              sandbox: sandbox(),
              limits: { wallMs: MINUTES },
              signal: new AbortController().signal,
            });
            expect(tests.filter(({ visible }) => visible).length).toBeGreaterThan(0);
            expect(tests.filter(({ passed }) => !passed)).toEqual([]);
          }
        },
        5 * MINUTES,
      );
    },
    hasHumanEval ? undefined : "there is no ../shared/data/HumanEval.jsonl",
  );
}
