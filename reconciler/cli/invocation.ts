/** What a command gets when it runs. */
import type { CommandSpec } from "./command-table";
import type { Flags } from "./flags";
import type { Output } from "./output";

export interface Invocation {
  readonly spec: CommandSpec;
  readonly args: readonly string[];
  readonly flags: Flags;
  readonly output: Output;
}

export interface CommandModule {
  run(invocation: Invocation): Promise<number>;
}
