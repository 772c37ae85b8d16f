export { create, type CreateArguments, type Created } from "./create-command.ts";
export { createProject, type Project, type ProjectRequest } from "./create-project.ts";
export { main } from "./main.ts";
export { type ProjectName, projectName } from "./project-name.ts";
export { type Kind, kindOf, KINDS } from "./templates.ts";
