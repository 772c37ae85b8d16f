/** A look-up table for names that come from outside: without a prototype, so that `constructor` is no entry. */
export function table<T>(entries: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return Object.assign(Object.create(null) as Record<string, T>, entries);
}
