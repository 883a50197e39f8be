/** `reconcile lsp`: what an editor shows while somebody types. */
import { command } from "../command";
import { serveEditor } from "../editor/server";

export const lspCommand = command({
  usage: "lsp [FILE|DIR]…",
  summary: "a language server for your editor: problems, completion, hover, rename",
  section: "This program",
  examples: [
    [
      "reconcile lsp",
      "speaks the Language Server Protocol on standard input and output; docs/install.md has the settings",
    ],
    ["reconcile lsp prod/", "these files are one desired state, whichever of them is open"],
  ],
  longRunning: true,
  flags: ["file", "env", "dialect", "var", "var-file", "state", "stdio"],
  run: async ({ args, flags }) => serveEditor([...args, ...(flags.file ?? [])], flags),
});
