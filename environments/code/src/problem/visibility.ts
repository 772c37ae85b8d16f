/** Which tests feedback may name: those that the problem shows itself, or a share of them, the first ones. */
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
