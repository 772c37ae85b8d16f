import starlight from "@astrojs/starlight";
import { defineConfig } from "astro/config";
import linksValidator from "starlight-links-validator";

const folder = (label, directory, collapsed = true) => ({ label, collapsed, items: [{ autogenerate: { directory } }] });

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
          items: ["overview", "index", "guides/getting-started", "concepts", "architecture", "glossary"],
        },
        folder("Guides", "guides", false),
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
