/** Python minor versions for which every locked package has a wheel. */
export const SUPPORTED_MINORS = [10, 11, 12, 13] as const;

/** The supported versions as text for messages. */
export const SUPPORTED_PYTHONS = `Python 3.${SUPPORTED_MINORS[0]} to 3.${SUPPORTED_MINORS.at(-1)}`;

/** Whether `3.12.1` is of a supported minor version. */
export function isSupportedVersion(version: string): boolean {
  const [major, minor] = version.split(".").map(Number);
  return major === 3 && (SUPPORTED_MINORS as readonly (number | undefined)[]).includes(minor);
}
