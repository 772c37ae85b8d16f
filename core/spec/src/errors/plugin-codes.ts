/** Codes of plugins, and of the policies that they provide as players. */
export const PLUGIN_CODES = {
  INSTALL_FAILED: {
    meaning: "The package manager could not install the packages of a project.",
    hint: "Read the package manager's output, and install the packages again.",
    retryable: false,
  },
  LAUNCHER_FAILED: {
    meaning: "A launcher could not start a process of a run.",
    hint: "The message has the reason: a program that does not exist, resources that no machine has, or a lost connection to the cluster.",
    retryable: false,
  },
  LAUNCHER_UNAVAILABLE: {
    meaning: "A launcher lacks something without which it cannot start.",
    hint: "The message names it; or use another launcher.",
    retryable: false,
  },
  NPM_FAILED: {
    meaning: "The package manager, which asks the registry for a command of mrlm, failed.",
    hint: "The message has its reason. Check the registry, the network and the permissions of your npm.",
    retryable: false,
  },
  PLAYER_FAILED: {
    meaning: "A policy of a plugin threw, took too long, or returned something malformed. The episode failed.",
    hint: "The message names the policy and its fault; its author must repair it.",
    retryable: false,
  },
  PLAYER_NOT_FOUND: {
    meaning: "Neither the environment nor a plugin has a policy of the name that a player states.",
    hint: "Correct the name.",
    retryable: false,
  },
  PLUGIN_API_VERSION: {
    meaning: "A plugin was made for another version of the plugin interface.",
    hint: "Update the plugin or mrlm.",
    retryable: false,
  },
  PLUGIN_CONFLICT: {
    meaning: "Two plugins provide the same thing.",
    hint: "Remove one of them or leave it out of the config.",
    retryable: false,
  },
  PLUGIN_INVALID: {
    meaning: "A plugin's manifest or default export is malformed, or they disagree.",
    hint: "See docs/build/plugins.md for the form.",
    retryable: false,
  },
  PLUGIN_LOAD_FAILED: {
    meaning: "A plugin's entry could not be imported.",
    hint: "The message quotes the error that the import raised: correct its cause.",
    retryable: false,
  },
  PLUGIN_NOT_FOUND: {
    meaning: "A plugin that the config names, or that the URL of a store needs, is not installed.",
    hint: "Install it with npm.",
    retryable: false,
  },
} as const;
