/** The member of a record that is its own: a user's key may be called `constructor`, which every object inherits. */
export function ownMember<T>(record: Readonly<Record<string, T>> | undefined, key: string | number): T | undefined {
  return record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;
}
