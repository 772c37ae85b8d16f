import { test as jestTest } from "@jest/globals";

// By a name in a variable: environments import neither sandboxes nor plugins.
const name: string = "@mrlm/sandbox";
const { detectJail } = (await import(name)) as {
  detectJail(): Promise<{ readonly bubblewrap?: unknown; readonly missing: readonly { readonly reason: string }[] }>;
};
const { bubblewrap, missing } = await detectJail();
const named = (title: string): string => `${title} (not here: ${missing[0]?.reason})`;

/** Tests in workspaces of this machine. They are skipped, with the reason, where it has none. */
// oxlint-disable-next-line jest/no-export
export const workspaceTest = (
  bubblewrap === undefined
    ? Object.assign((title: string, body: () => void) => jestTest.skip(named(title), body), {
        each: (table: readonly unknown[]) => (title: string, body: () => void) =>
          jestTest.skip.each(table)(named(title), body),
      })
    : jestTest
) as typeof jestTest;
