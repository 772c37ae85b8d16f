import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { parseConfig } from "@mrlm/runtime";
import { parse } from "yaml";
import { createProgram } from "../src/program.ts";
import { laterParts } from "../src/services/part-commands.ts";

const folder = new URL("../../../deploy/kubernetes-training/", import.meta.url);
const files = readdirSync(folder);
const text = (file: string): string => readFileSync(new URL(file, folder), "utf8");
const manifests = Object.fromEntries(
  files.map((file) => {
    const manifest = parse(text(file));
    return [manifest.kind as string, manifest];
  }),
);
const job = manifests["Job"].spec.template;
const [engine] = job.spec.initContainers;
const [trainer] = job.spec.containers;
const workers = manifests["Deployment"].spec.template;
const [worker] = workers.spec.containers;
const loaded = parseConfig(manifests["ConfigMap"].data["run.yaml"], { path: "/etc/mrlm/run.yaml" });

/** Parses the arguments of a command of mrlm; an unknown flag is an error. */
function options(names: readonly string[], args: readonly string[]): Record<string, unknown> {
  let command = createProgram(() => undefined);
  for (const name of names) command = command.commands.find((each) => each.name() === name) ?? command;
  command
    .exitOverride()
    .action(() => undefined)
    .parse([...args], { from: "user" });
  return command.opts();
}

test("every manifest states that it was not run", () => {
  for (const file of files)
    expect([file, text(file).split("\n")[0]]).toEqual([file, expect.stringMatching(/^# Not run/)]);
});

test("workers reach the store server and the engine of the run", () => {
  const [{ part }] = laterParts({ loaded, configPath: "", overrides: [], mrlm: ["mrlm"] }, "/runs/r") as [
    ReturnType<typeof laterParts>[number],
  ];
  const store = options(["store", "serve"], part.command.slice(3));
  const play = options(["play"], worker.args.slice(1));
  const { name } = manifests["Service"].metadata;
  expect(store).toMatchObject({ host: "0.0.0.0", insecure: true, run: "/runs/r", tokenFile: play["tokenFile"] });
  const port = (flag: string): string => engine.args.find((each: string) => each.startsWith(flag)).split("=")[1];
  expect([play["store"], play["engine"]]).toEqual([`${name}:${store["port"]}`, [`${name}:${port("--port")}`]]);
  expect(loaded.config.engine).toMatchObject({
    address: `127.0.0.1:${port("--port")}`,
    token_file: port("--token-file"),
  });
  const ports = [Number(store["port"]), Number(port("--port"))];
  expect(manifests["Service"].spec.ports.map((each: { port: number }) => each.port)).toEqual(ports);
  expect(manifests["NetworkPolicy"].spec.ingress[0].ports).toEqual(ports.map((each) => ({ port: each })));
  expect([trainer.ports[0].containerPort, engine.ports[0].containerPort]).toEqual(ports);
});

test("labels, volumes and users agree", () => {
  const label = (template: typeof job): string => template.metadata.labels["app.kubernetes.io/name"];
  expect(manifests["Service"].spec.selector).toEqual({ "app.kubernetes.io/name": label(job) });
  expect(manifests["NetworkPolicy"].spec.podSelector.matchLabels).toEqual({ "app.kubernetes.io/name": label(job) });
  expect(manifests["NetworkPolicy"].spec.ingress[0].from).toEqual([
    { podSelector: { matchLabels: { "app.kubernetes.io/name": label(workers) } } },
  ]);
  expect(manifests["Deployment"].spec.selector.matchLabels).toEqual({ "app.kubernetes.io/name": label(workers) });
  for (const { metadata, spec } of [job, workers]) {
    expect(metadata.labels["mrlm-client"]).toBe("true");
    expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 });
  }
  const volume = (name: string) => job.spec.volumes.find((each: { name: string }) => each.name === name);
  expect(volume("runs").persistentVolumeClaim.claimName).toBe(manifests["PersistentVolumeClaim"].metadata.name);
  expect(volume("config").configMap.name).toBe(manifests["ConfigMap"].metadata.name);
  for (const each of [engine, trainer, worker])
    for (const { name } of each.volumeMounts)
      expect([...job.spec.volumes, ...workers.spec.volumes].map((known: { name: string }) => known.name)).toContain(
        name,
      );
});
