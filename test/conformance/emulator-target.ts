/** The emulator's built-in world as a target: its people, its project, and the flavor that cannot be had. */
import type { Target } from "./context";
import { loadContract } from "./contract";
import { builtInDialect, type DialectOperation } from "./dialect";

export function emulatorTarget(baseUrl: string, timeScale: number, withOperations: readonly string[]): Target {
  const { operations: documented } = loadContract(true);
  const operations: Record<string, DialectOperation> = {};
  for (const operation of withOperations) {
    const spec = documented.get(operation);
    if (spec !== undefined) operations[operation] = { method: spec.method, path: spec.path };
  }
  return {
    baseUrl,
    dialect: { ...builtInDialect, operations },
    credentials: {
      caller: "Bearer ops-token",
      member: "Bearer member-token",
      otherMember: "Bearer other-member-token",
      admin: "Bearer admin-token",
      inactive: "Bearer inactive-token",
      outsider: "Bearer outsider-token",
      homeless: "Bearer homeless-token",
    },
    strict: true,
    hasControl: true,
    timeScale,
    project: "acme",
    userId: "1042",
    ownerEmail: "ops@acme.example",
    ownerUsername: "ops",
    soldOutFlavor: "g1.soldout",
  };
}
