import { expect, test } from "@jest/globals";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { ERROR_CODES } from "@mrlm/spec/host";
import { parseConfig } from "@mrlm/runtime";
import { configJsonSchema, configReference } from "../scripts/config-reference.ts";
import { errorReference } from "../scripts/error-reference.ts";

const read = (name: string): string =>
  readFileSync(new URL(`../../../docs/reference/${name}`, import.meta.url), "utf8");

test("docs/reference/config.md has every key of the schema, as the schema describes it", () => {
  expect(read("config.md")).toBe(configReference());
  expect(JSON.parse(read("config.schema.json"))).toEqual(JSON.parse(JSON.stringify(configJsonSchema())));
});

test("the configuration that docs/reference/config.md shows is valid", () => {
  const [, example] = /```yaml\n(.*?)```/s.exec(read("config.md")) ?? [];
  expect(parseConfig(example as string, { path: "example.yaml" }).config.stages).toHaveLength(2);
});

test("a configuration without a key has the default that the schema states", () => {
  const { config } = parseConfig("model: { path: m }\nstages: [{ algorithm: sft }]", { path: "example.yaml" });
  const stated = Object.entries(configJsonSchema().properties ?? {}).flatMap(([section, { properties, anyOf }]) =>
    Object.entries({ ...properties, ...anyOf?.find((each) => each.properties !== undefined)?.properties }).flatMap(
      ([key, { default: value }]) => (value === undefined ? [] : [{ section, key, value }]),
    ),
  );
  const resolved = config as unknown as Record<string, Record<string, unknown>>;
  const filled = stated.filter(({ section, key }) => resolved[section]?.[key] !== undefined);
  expect(filled.length).toBeGreaterThan(25);
  expect(filled.map(({ section, key }) => [section, key, resolved[section]?.[key]])).toEqual(
    filled.map(({ section, key, value }) => [
      section,
      key,
      section === "output" && key === "directory" ? resolve(String(value)) : value,
    ]),
  );
});

test("docs/reference/errors.md has a section for each code and for no other", () => {
  const page = read("errors.md");
  const sections = [...page.matchAll(/^## (\S+)$/gm)].map(([, code]) => code);
  expect(sections.toSorted()).toEqual(Object.keys(ERROR_CODES).sort());
  expect(sections).toEqual([...sections].sort());
  expect(page).toBe(errorReference());
});
