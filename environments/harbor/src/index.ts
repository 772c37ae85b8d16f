/** Folders of tasks in the format of Harbor: `harbor@1`. */
import { definePlugin } from "@mrlm/kit";
import { harbor } from "./definition.ts";

export default definePlugin({ name: "@mrlm/environment-harbor", environments: [harbor] });
