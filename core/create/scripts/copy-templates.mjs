// Copies templates/ of the repository into this package before it is packed, and removes the copy after that.
import { cpSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const copy = fileURLToPath(new URL("../templates", import.meta.url));
rmSync(copy, { recursive: true, force: true });
if (!process.argv.includes("--remove"))
  cpSync(fileURLToPath(new URL("../../../templates", import.meta.url)), copy, {
    recursive: true,
    filter: (path) => !/[\\/](node_modules|dist|runs)$/.test(path),
  });
