import { readFileSync } from "node:fs";
import starlight from "@astrojs/starlight";
import { defineConfig } from "astro/config";
import linksValidator from "starlight-links-validator";

const folder = (label, directory, collapsed = true) => ({ label, collapsed, items: [{ autogenerate: { directory } }] });

/** Guides of a folder in the order of docs/README.md. */
const index = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const guides = (label, directory) => ({
  label,
  collapsed: true,
  items: Array.from(index.matchAll(/\]\((\w+\/[\w-]+)\.md\)/g), ([, page]) => page).filter((page) =>
    page.startsWith(`${directory}/`),
  ),
});

export default defineConfig({
  // Another address of the site: `npm run docs -- --site https://example.org --base /mrlm`.
  integrations: [
    starlight({
      title: "mrlm",
      description: "Reinforcement learning of language models with environments in TypeScript",
      plugins: [linksValidator()],
      pagination: false,
      sidebar: [
        {
          label: "Overview",
          items: ["overview", "index", "comparison", "packages", "architecture", "glossary"],
        },
        { ...guides("Start", "start"), collapsed: false },
        guides("Train", "train"),
        guides("Build", "build"),
        guides("Operate", "operate"),
        {
          label: "Reference",
          collapsed: true,
          items: [
            "reference/cli",
            "reference/config",
            "reference/errors",
            "reference/checks",
            "reference/algorithms",
            "reference/store",
            "numerics",
          ],
        },
        folder("Interfaces", "reference/api"),
        folder("Packages", "packages"),
        { label: "Project", collapsed: true, items: ["contributing", "security", "changelog"] },
        folder("Decisions", "decisions"),
      ],
    }),
  ],
});
