export { serveUi, type ServeUiOptions, type UiServer } from "./serve-ui.ts";
