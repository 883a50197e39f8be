/** Every command, in the order in which help lists them. The file of a command defines it. */
import type { Commands } from "./command";
import { applyCommand } from "./commands/apply";
import { completionCommand } from "./commands/completion";
import { destroyCommand } from "./commands/destroy";
import { dialectProveCommand } from "./commands/dialect-prove";
import { dialectTestCommand } from "./commands/dialect-test";
import { docsCommand } from "./commands/docs";
import { doctorCommand } from "./commands/doctor";
import { driftCommand } from "./commands/drift";
import { emulatorCommand } from "./commands/emulator";
import { explainCommand } from "./commands/explain";
import { exportPulumiCommand } from "./commands/export";
import { exposureCommand } from "./commands/exposure";
import {
  fleetApproveCommand,
  fleetHistoryCommand,
  fleetListCommand,
  fleetLogCommand,
  fleetLoginCommand,
  fleetPauseCommand,
  fleetPlanCommand,
  fleetRejectCommand,
  fleetResumeCommand,
  fleetRunCommand,
  fleetServeCommand,
  fleetShowCommand,
  fleetStopCommand,
  fleetSyncCommand,
  fleetTokenCommand,
  fleetTryCommand,
  fleetUndoCommand,
  fleetWorkCommand,
} from "./commands/fleet";
import { fmtCommand } from "./commands/fmt";
import { graphCommand } from "./commands/graph";
import { groupImportCommand } from "./commands/group";
import { historyCommand, undoCommand } from "./commands/history";
import { importCommand } from "./commands/import";
import { initCommand } from "./commands/init";
import { lspCommand } from "./commands/lsp";
import { mcpCommand } from "./commands/mcp";
import { moveCommand } from "./commands/move";
import { orphansDeleteCommand, orphansListCommand } from "./commands/orphans";
import { outputCommand } from "./commands/output";
import { oweCommand } from "./commands/owe";
import { planCommand } from "./commands/plan";
import { pullCommand } from "./commands/pull";
import { rehearseCommand } from "./commands/rehearse";
import { schemaCommand } from "./commands/schema";
import { showCommand } from "./commands/show";
import { sshCommand } from "./commands/ssh";
import {
  stateListCommand,
  statePullCommand,
  statePushCommand,
  stateResolveCommand,
  stateRmCommand,
  stateShowCommand,
  stateUnlockCommand,
} from "./commands/state";
import { stateCheckCommand } from "./commands/state-check";
import { stateMvCommand } from "./commands/state-mv";
import { testCommand } from "./commands/test";
import { validateCommand } from "./commands/validate";
import { versionCommand } from "./commands/version";
import { vmListCommand, vmRebootCommand, vmSnapshotCommand, vmStartCommand, vmStopCommand } from "./commands/vm";
import { watchCommand } from "./commands/watch";

export const commands: Commands = {
  init: () => initCommand,
  fmt: () => fmtCommand,
  schema: () => schemaCommand,
  validate: () => validateCommand,
  test: () => testCommand,
  plan: () => planCommand,
  apply: () => applyCommand,
  show: () => showCommand,
  undo: () => undoCommand,
  destroy: () => destroyCommand,
  drift: () => driftCommand,
  import: () => importCommand,
  "group import": () => groupImportCommand,
  pull: () => pullCommand,
  exposure: () => exposureCommand,
  output: () => outputCommand,
  "vm list": () => vmListCommand,
  "vm start": () => vmStartCommand,
  "vm stop": () => vmStopCommand,
  "vm reboot": () => vmRebootCommand,
  "vm snapshot": () => vmSnapshotCommand,
  owe: () => oweCommand,
  ssh: () => sshCommand,
  history: () => historyCommand,
  move: () => moveCommand,
  "state list": () => stateListCommand,
  "state show": () => stateShowCommand,
  "state rm": () => stateRmCommand,
  "state mv": () => stateMvCommand,
  "state pull": () => statePullCommand,
  "state push": () => statePushCommand,
  "state unlock": () => stateUnlockCommand,
  "state check": () => stateCheckCommand,
  "state resolve": () => stateResolveCommand,
  "orphans list": () => orphansListCommand,
  "orphans delete": () => orphansDeleteCommand,
  "fleet try": () => fleetTryCommand,
  "fleet sync": () => fleetSyncCommand,
  "fleet work": () => fleetWorkCommand,
  "fleet serve": () => fleetServeCommand,
  "fleet token": () => fleetTokenCommand,
  "fleet login": () => fleetLoginCommand,
  "fleet list": () => fleetListCommand,
  "fleet show": () => fleetShowCommand,
  "fleet run": () => fleetRunCommand,
  "fleet plan": () => fleetPlanCommand,
  "fleet approve": () => fleetApproveCommand,
  "fleet reject": () => fleetRejectCommand,
  "fleet pause": () => fleetPauseCommand,
  "fleet resume": () => fleetResumeCommand,
  "fleet stop": () => fleetStopCommand,
  "fleet undo": () => fleetUndoCommand,
  "fleet log": () => fleetLogCommand,
  "fleet history": () => fleetHistoryCommand,
  graph: () => graphCommand,
  "export pulumi": () => exportPulumiCommand,
  doctor: () => doctorCommand,
  "dialect test": () => dialectTestCommand,
  "dialect prove": () => dialectProveCommand,
  rehearse: () => rehearseCommand,
  watch: () => watchCommand,
  emulator: () => emulatorCommand,
  explain: () => explainCommand,
  docs: () => docsCommand,
  lsp: () => lspCommand,
  mcp: () => mcpCommand,
  completion: () => completionCommand,
  version: () => versionCommand,
};
