import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** Returns the path of an executable command. */
export function findCommand(name: string): string | undefined {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/bin", "/bin", "/usr/local/bin"].filter(
    Boolean,
  );
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
