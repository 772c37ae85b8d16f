/** Provision under check. */
export interface Opened<T> {
  readonly value: T;
  /** Base URL of the model server that runs for it, if one does. */
  readonly baseUrl?: string;
  /** Releases it, and what was opened for it. */
  close(): Promise<void>;
}

/** Origin of a provision under check. */
export interface Source<T> {
  /** @param directory empty folder for its files */
  open(directory: string): Promise<Opened<T>>;
  /** The same with a model or services that fail; omitted if it uses none. */
  readonly openFailing?: ((directory: string) => Promise<Opened<T>>) | undefined;
}

/** Returns the source of a function that makes the provision. */
export function madeBy<T>(make: (directory: string) => T | Promise<T>): Source<T> {
  return {
    async open(directory) {
      const value = await make(directory);
      return { value, close: async () => (value as { close?(): Promise<void> }).close?.() };
    },
  };
}
