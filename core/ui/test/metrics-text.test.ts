import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { quantileOf, readMetrics } from "../src/servers/metrics-text.ts";

test("samples are read with their labels, and quantiles are within the bucket that holds their rank", () => {
  const text = '# TYPE a counter\na{b="x \\"y\\"\\n",le="+Inf"} 3 1700000000\nc 1.5e-3\nbroken{ 1\nd NaN\n';
  expect(readMetrics(text)).toEqual([
    { name: "a", labels: { b: 'x "y"\n', le: "+Inf" }, value: 3 },
    { name: "c", labels: {}, value: 0.0015 },
    { name: "d", labels: {}, value: Number.NaN },
  ]);
  fc.assert(fc.property(fc.string(), (any) => void readMetrics(any)));
  const bounds = [1, 2, 5, Number.POSITIVE_INFINITY];
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0, max: 4.9, noNaN: true }), { minLength: 1 }),
      fc.double({ min: 0.01, max: 1, noNaN: true }),
      (values, q) => {
        const buckets = bounds.map((bound) => [bound, values.filter((value) => value <= bound).length] as const);
        const exact = values.toSorted((a, b) => a - b)[Math.ceil(q * values.length - 1e-9) - 1] as number;
        const upper = bounds.find((bound) => exact <= bound) as number;
        const found = quantileOf(buckets, q) as number;
        expect(found).toBeLessThanOrEqual(upper);
        expect(found).toBeGreaterThanOrEqual(bounds[bounds.indexOf(upper) - 1] ?? 0);
      },
    ),
  );
  expect(quantileOf([[1, 0]], 0.5)).toBeUndefined();
});
