/** `reconcile move`: parts of a project go to another one, with their records. Shown first, and written with --yes. */
import { command, oneOrMore, type Positionals } from "../command";
import { commonFlags } from "../flags";
import { moveParts } from "../move/parts";

const movedParts: Positionals = { ...oneOrMore("what moves: addresses, patterns, a component, or --all"), min: 0 };

export const moveCommand = command({
  usage: "move ADDR… --to DIR|FILE [--env NAME|all] [--into COMPONENT/] [--yes]",
  summary: "parts of a project go to another one, files and states, with nothing sent",
  section: "The state",
  examples: [
    ["reconcile move vm.db 'volume.db-*' group.db --to ../database", "shows what would move, and writes nothing"],
    ["reconcile move vm.db 'volume.db-*' group.db --to ../database --yes", "moves it"],
    ["reconcile move shop/ --to ../shop --env all --yes", "a component with all that is in it, in every environment"],
    ["reconcile move --all --to ../whole --yes", "joins two projects"],
  ],
  flags: ["file", "to", "into", "all", "yes", "lock-timeout", ...commonFlags],
  positionals: movedParts,
  complete: async (args, known) => known.declared().filter(({ word }) => !args.includes(word)),
  run: moveParts,
});
