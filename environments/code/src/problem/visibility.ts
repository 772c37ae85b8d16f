/** Tests that feedback may name: those in the problem, or a share of the tests, from the first. */
export type Visibility = "examples" | number;

/** Marks the visible tests and puts them first. */
export function withVisibility<T extends { readonly visible: boolean; readonly counted?: boolean }>(
  tests: readonly T[],
  visibility: Visibility,
): T[] {
  if (visibility === "examples")
    return [...tests.filter(({ visible }) => visible), ...tests.filter(({ visible }) => !visible)];
  const counted = tests.filter((test) => test.counted !== false);
  const shown = Math.round(visibility * counted.length);
  return counted.map((test, i) => ({ ...test, visible: i < shown }));
}
