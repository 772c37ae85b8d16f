/** Creates a table for names from untrusted text. It has no prototype, so that `constructor` is not an entry. */
export function table<T>(entries: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return Object.assign(Object.create(null) as Record<string, T>, entries);
}
