/** `reconcile emulator`: the embedded service as a process of its own. */

import type { SpokenDialect } from "../../../emulator";
import { emulatorFlagHelp, runEmulator } from "../../../emulator/main";
import { errorsAmong } from "../../core/model/diagnostic";
import { printable } from "../../core/text/printable";
import { readDialectFile } from "../../open-service";
import { command } from "../command";

export const emulatorCommand = command({
  usage: "emulator [--port P] [--dir D] [--time-scale N] …",
  summary: "serves the whole service on loopback",
  section: "This program",
  examples: [
    ["reconcile emulator --port 4010 --dir world", "a world that stays, at http://127.0.0.1:4010"],
    [
      "reconcile emulator --port 4010 --contract-only --time-scale 60",
      "nothing beyond the documented operations, sixty times faster",
    ],
    ["reconcile emulator --port 4010 --dialect my.dialect.yaml", "speaks as your deployment does, to rehearse against"],
    [
      "reconcile emulator --port 4010 --fault operation=vm.create,kind=drop-after,count=1",
      "does the first create and loses its answer",
    ],
  ],
  longRunning: true,
  flags: [],
  ownFlags: () => emulatorFlagHelp,
  run: ({ args }) => runEmulator(args, spokenDialect, printable),
});

/** The dialect file is read and checked as every command does it; the emulator interprets it by code of its own. */
function spokenDialect(named: string): SpokenDialect | readonly string[] {
  const { dialect, diagnostics } = readDialectFile(named);
  const errors = errorsAmong(diagnostics);
  return errors.length === 0
    ? dialect
    : errors.map(
        ({ summary, source, fix }) =>
          `${source === undefined ? named : `${source.file}:${source.line}:${source.column}`}: ${summary}${fix === undefined ? "" : ` (${fix})`}`,
      );
}
