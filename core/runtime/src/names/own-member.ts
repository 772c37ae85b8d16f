/** Returns an own member of a record. A user's key may be `constructor`, which every object inherits. */
export function ownMember<T>(record: Readonly<Record<string, T>> | undefined, key: string | number): T | undefined {
  return record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;
}
