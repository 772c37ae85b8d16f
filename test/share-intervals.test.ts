import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { gainInterval, wilsonInterval } from "../benchmarks/models/share-intervals.ts";

const repeated = (count: number, before: boolean, after: boolean) =>
  Array.from({ length: count }, () => [before, after] as const);

test("a gain of every task has an interval that ends at 1 and has a width", () => {
  const [low, high] = gainInterval(repeated(200, false, true));
  expect(high).toBeCloseTo(1, 12);
  expect(low).toBeGreaterThan(0.9);
  expect(low).toBeLessThan(0.99);
});

test("the interval of any pairs holds the difference, lies in [-1, 1], and is mirrored where before and after are exchanged", () => {
  const pair = fc.tuple(fc.boolean(), fc.boolean());
  fc.assert(
    fc.property(fc.array(pair, { minLength: 1, maxLength: 300 }), (pairs) => {
      const [low, high] = gainInterval(pairs);
      const difference = pairs.reduce((sum, [before, after]) => sum + Number(after) - Number(before), 0) / pairs.length;
      expect(low).toBeLessThanOrEqual(difference + 1e-9);
      expect(high).toBeGreaterThanOrEqual(difference - 1e-9);
      expect(Math.max(-low, high)).toBeLessThanOrEqual(1 + 1e-9);
      const [mirroredLow, mirroredHigh] = gainInterval(pairs.map(([before, after]) => [after, before] as const));
      expect(mirroredLow).toBeCloseTo(-high, 9);
      expect(mirroredHigh).toBeCloseTo(-low, 9);
    }),
  );
});

test("pairs that agree have a narrower interval than independent ones of the same shares", () => {
  const width = ([low, high]: readonly [number, number]): number => high - low;
  const agreeing = [...repeated(100, true, true), ...repeated(20, false, true), ...repeated(80, false, false)];
  const independent = [
    ...[...repeated(60, true, true), ...repeated(40, true, false)],
    ...[...repeated(60, false, true), ...repeated(40, false, false)],
  ];
  expect(width(gainInterval(agreeing))).toBeLessThan(0.7 * width(gainInterval(independent)));
  expect(wilsonInterval(0.5, 200)[1]).toBeLessThan(0.57);
});
