/** What the fleet keeps, by name: each room has its own statements. */
import type { Database } from "./database";
import { pageStatements } from "./pages";
import { peopleStatements } from "./people";
import { runStatements } from "./runs";
import { stackStatements } from "./stacks";
import { workerStatements } from "./workers";

export const createRecords = (database: Database) => ({
  ...stackStatements(database),
  ...runStatements(database),
  ...workerStatements(database),
  ...peopleStatements(database),
  ...pageStatements(database),
});
export type Records = ReturnType<typeof createRecords>;
