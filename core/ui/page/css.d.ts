/** Styles, which the bundler writes to page.css. */
declare module "*.css" {}
