import assert from "node:assert/strict";
import type { UnitGradients, UnitOutputs } from "@mrlm/spec";
import { ALL_OUTPUTS, type EngineCheck, UNITS, assertRatio, gradientOf, lossOf, normOf } from "./engine-subject.ts";

/** Checks of outputs and gradients: correct, and independent of the division into batches. */
export const learningChecks: readonly EngineCheck[] = [
  {
    name: "outputs have a number for each masked position and do not depend on the rest of the batch (numerics 36, 37)",
    run: async ({ engine, model, tolerance }) => {
      const together = await engine.forward({
        model: model.model,
        units: UNITS,
        outputs: { ...ALL_OUTPUTS, finalValue: true },
        temperature: 0.7,
      });
      for (const [i, unit] of UNITS.entries()) {
        const [alone] = await engine.forward({
          model: model.model,
          units: [unit],
          outputs: { ...ALL_OUTPUTS, finalValue: true },
          temperature: 0.7,
        });
        const count = unit.sequences.reduce((sum, { mask }) => sum + mask.reduce((bits, bit) => bits + bit, 0), 0);
        for (const name of ["logprob", "entropy", "value"] as const)
          assertClose(together[i]?.[name], alone?.[name], count, tolerance, `${name} of unit ${i}`);
        assertClose(
          together[i]?.finalValue,
          alone?.finalValue,
          unit.sequences.length,
          tolerance,
          `final value of unit ${i}`,
        );
      }
    },
  },
  {
    name: "the outputs of targets are their log-probabilities, and the gradient of a token that stands twice is that of the sum",
    run: async ({ engine, model: { model }, tolerance }) => {
      const outputs = { logprob: true };
      const plain = await engine.forward({ model, units: UNITS, outputs });
      const twice = UNITS.map(({ sequences }) => ({
        sequences: sequences.map(({ tokens, mask }) => ({
          tokens,
          mask,
          targets: Int32Array.from(
            Array.from(tokens)
              .filter((_, t) => mask[t] === 1)
              .flatMap((token) => [token, token]),
          ),
        })),
      }));
      const doubled = await engine.forward({ model, units: twice, outputs });
      for (const [i, { logprob = new Float32Array() }] of plain.entries()) {
        const expected = Float32Array.from({ length: 2 * logprob.length }, (_, o) => logprob[o >> 1] as number);
        assertClose(doubled[i]?.logprob, expected, 2 * logprob.length, tolerance, `targets of unit ${i}`);
      }
      const slopes = (each: number, times: number): UnitGradients[] =>
        plain.map(({ logprob = [] }) => ({ logprob: new Float32Array(times * logprob.length).fill(each) }));
      const norms = [
        await normOf(engine, model, { units: UNITS, loss: slopes(1, 1) }),
        await normOf(engine, model, { units: twice, loss: slopes(0.5, 2) }),
      ];
      assertRatio(norms[1] as number, norms[0] as number, 1, "gradient norms of tokens and of targets");
    },
  },
  {
    name: "the most likely tokens come in descending order, with their log-probabilities",
    run: async ({ engine, model: { model }, tolerance }) => {
      const top = 3;
      const found = await engine.forward({ model, units: UNITS, outputs: { top } });
      const positions = UNITS.map(({ sequences }) =>
        sequences.map(({ mask }) => mask.reduce((sum, bit) => sum + bit, 0)),
      );
      const units = UNITS.map(({ sequences }, i) => {
        let start = 0;
        return {
          sequences: sequences.map(({ tokens, mask }, s) => {
            const end = start + top * (positions[i]?.[s] as number);
            const targets = found[i]?.topTokens?.slice(start, end) ?? new Int32Array();
            start = end;
            return { tokens, mask, ...(targets.length > 0 && { targets }) };
          }),
        };
      });
      const asked = await engine.forward({ model, units, outputs: { logprob: true } });
      for (const [i, { topLogprob = new Float32Array() }] of found.entries()) {
        assertClose(asked[i]?.logprob, topLogprob, topLogprob.length, tolerance, `most likely tokens of unit ${i}`);
        for (const [o, value] of topLogprob.entries())
          assert(o % top === 0 || value <= (topLogprob[o - 1] as number), "The order is not descending.");
      }
    },
  },
  {
    name: "a small step along the gradient lowers the loss by rate x norm²",
    run: async ({ engine, model: { model } }) => {
      const total = async (): Promise<number> => {
        const outputs = await engine.forward({ model, units: UNITS, outputs: ALL_OUTPUTS });
        return outputs.reduce((sum, unit, i) => sum + lossOf(i, unit), 0);
      };
      const before = await total();
      await engine.forwardBackward({ model, units: UNITS, outputs: ALL_OUTPUTS, normalizer: 1, loss: gradientOf });
      // Without moments and with a very large epsilon, the first update of AdamW is the gradient divided by epsilon.
      const probe = await normOf(engine, model);
      const rate = Math.min(1e-3, (0.01 * before) / probe ** 2);
      await engine.forwardBackward({ model, units: UNITS, outputs: ALL_OUTPUTS, normalizer: 1, loss: gradientOf });
      const { gradNorm, applied } = await engine.optimStep({
        model,
        learningRate: rate * 1e8,
        beta1: 0,
        beta2: 0,
        epsilon: 1e8,
      });
      const fall = before - (await total());
      assert(applied, "The step was not applied.");
      assert(
        Math.abs(fall / (rate * gradNorm ** 2) - 1) < 0.15,
        `The loss fell by ${fall}; ${rate * gradNorm ** 2} was expected.`,
      );
    },
  },
  {
    name: "the gradient is the same for every micro-batch split (numerics 1), and given gradients equal those of a loss",
    run: async ({ engine, model }) => {
      const norms: number[] = [];
      for (const microBatchTokens of [1, 12, 100_000]) {
        const id = `split-${microBatchTokens}`;
        await engine.createModel({ ...model, model: id, microBatchTokens });
        norms.push(await normOf(engine, id));
        const outputs = await engine.forward({ model: id, units: UNITS, outputs: ALL_OUTPUTS });
        norms.push(await normOf(engine, id, { loss: outputs.map((unit, i) => gradientOf(i, unit)) }));
        await engine.releaseModel(id);
      }
      for (const norm of norms) assertRatio(norm, norms[0] as number, 1, "gradient norms of different splits");
    },
  },
  {
    name: "the normalizer divides, passes accumulate, and a step clears",
    run: async ({ engine, model: { model } }) => {
      const whole = await normOf(engine, model);
      assertRatio(await normOf(engine, model, { normalizer: 4 }), whole, 1 / 4, "norm under a normalizer of 4");
      await engine.forwardBackward({ model, units: UNITS, outputs: ALL_OUTPUTS, normalizer: 1, loss: gradientOf });
      assertRatio(await normOf(engine, model), whole, 2, "norm of two passes");
    },
  },
  {
    name: "the loss is called once for each unit, with the returned outputs",
    run: async ({ engine, model: { model } }) => {
      const shown = new Map<number, UnitOutputs>();
      const loss = (unit: number, outputs: UnitOutputs): UnitGradients => {
        assert(!shown.has(unit), `The loss was called for unit ${unit} twice.`);
        shown.set(unit, outputs);
        return {};
      };
      const { outputs, tokens } = await engine.forwardBackward({
        model,
        units: UNITS,
        outputs: ALL_OUTPUTS,
        normalizer: 1,
        loss,
      });
      assert.deepEqual([...shown.keys()].toSorted(), [0, 1, 2]);
      assert.deepEqual(
        outputs,
        UNITS.map((_, i) => shown.get(i)),
      );
      assert(tokens >= 20, `The engine counted ${tokens} tokens of 20.`);
      assert.equal((await engine.optimStep({ model, learningRate: 1 })).gradNorm, 0, "Omitted gradients are zeros.");
    },
  },
  {
    name: "a gradient that is not finite skips the step, with a reason (numerics 58)",
    run: async ({ engine, model: { model } }) => {
      const clean = await normOf(engine, model);
      const before = (await engine.publish(model)).checksum;
      const broken = (): UnitGradients => ({ value: new Float32Array([Number.NaN, 0]) });
      await engine.forwardBackward({
        model,
        units: UNITS.slice(1, 2),
        outputs: { value: true },
        normalizer: 1,
        loss: broken,
      });
      const { applied, skippedReason, step } = await engine.optimStep({ model, learningRate: 1 });
      assert.equal(applied, false, "The step was applied.");
      assert(skippedReason !== undefined && skippedReason !== "", "The result has no reason for the skipped step.");
      assert.equal((await engine.publish(model)).checksum, before, "The weights changed.");
      assertRatio(await normOf(engine, model), clean, 1, "gradient norm after a step that was skipped");
      const { models } = await engine.describe();
      assert.equal(models.find((each) => each.model === model)?.step, step + 1, "A skipped step was counted.");
    },
  },
];

function assertClose(
  found: Float32Array | undefined,
  expected: Float32Array | undefined,
  count: number,
  tolerance: number,
  what: string,
): void {
  assert.equal(found?.length, count, `${what}: ${found?.length} numbers for ${count}.`);
  found.forEach((x, i) =>
    assert(
      Math.abs(x - (expected?.[i] ?? Number.NaN)) <= tolerance,
      `${what} is ${x} in a batch and ${expected?.[i]} alone.`,
    ),
  );
}
