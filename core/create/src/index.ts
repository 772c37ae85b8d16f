export { create } from "./create-command.ts";
export { createProject } from "./create-project.ts";
export { projectName } from "./project-name.ts";
export { type Kind, KINDS } from "./templates.ts";
export { main } from "./main.ts";
