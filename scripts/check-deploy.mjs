// npm run check:deploy: validates the manifests of deploy/kubernetes and deploy/kubernetes-training by the schemas of Kubernetes, which a package of PyPI has.
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "./lib/repository.mjs";
import { run } from "./lib/run.mjs";
import { script } from "./lib/script.mjs";
import { setup } from "./lib/setup.mjs";

await script(async () => {
  const { python } = await setup({ dev: true });
  const folders = ["kubernetes", "kubernetes-training"].map((name) => join(root, "deploy", name));
  const requirements = join(root, "deploy", "requirements.txt");
  const { stdout } = await run(
    python,
    ["benchmarks/train/peers/setup_environment.py", "--requirements", requirements],
    { stdout: "capture" },
  );
  const interpreter = stdout.trim().split("\n").at(-1) ?? "";
  await run(join(dirname(interpreter), "kubernetes-validate"), [
    "--strict",
    ...folders.flatMap((folder) => readdirSync(folder).map((file) => join(folder, file))),
  ]);
});
