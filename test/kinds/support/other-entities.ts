/** Tables of the emulated world for kinds that the service's contract does not have. */
import type { WorldChange } from "../../../emulator/entities";
import type { World } from "../../../emulator/world";

/** What every such entity has. */
export interface Other {
  readonly id: string;
  readonly seq: number;
  readonly project_id: string;
  readonly name: string;
}

// The world's types name the contract's kinds alone; its tables were made from the list of kinds, this one included.
export const tableOf = <E extends Other>(world: World, kind: string): Map<string, E> =>
  Reflect.get(world.tables, kind) as Map<string, E>;

export const put = <E extends Other>(kind: string, value: E): readonly WorldChange[] => [
  { put: kind, value } as unknown as WorldChange,
];
export const drop = (kind: string, id: string): readonly WorldChange[] => [
  { drop: kind, id } as unknown as WorldChange,
];
