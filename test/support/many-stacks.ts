/** Many stacks that cost a fleet what as many projects would, without making each one's things. */
import type { FleetStage } from "./fleet-processes";

/** Twenty resources. */
export const groupNames = Array.from({ length: 20 }, (_, index) => `group-${index}`);
export const twentyGroups = `version: 1
project: acme
groups:
${groupNames.map((name, index) => `  g${index}: { name: ${name}, rules: [ { protocol: tcp, dst_port: ${1000 + index}, remote_ip: 198.51.100.0/24 } ] }`).join("\n")}
`;

/** They stand on copies of the state of the stack `first`: each looks at what that one made, as it would in an account of its own. */
export async function standOnCopies({ session }: FleetStage, names: readonly string[]): Promise<void> {
  for (const [table, columns] of [
    ["states", "snapshot, epoch"],
    ["journal", "line, body"],
  ])
    await session.database.query(
      `INSERT INTO reconcile.${table} (name, ${columns}) SELECT n, ${columns} FROM reconcile.${table}, unnest($1::text[]) AS n WHERE name = 'first'`,
      [names],
    );
}
