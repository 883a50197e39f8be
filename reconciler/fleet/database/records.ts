/** All statements of the fleet in one value; each file beside this one has those of its subject. */
import type { Database } from "./database";
import { letterStatements } from "./letters";
import { pageStatements } from "./pages";
import { peopleStatements } from "./people";
import { planStatements } from "./plans";
import { pullStatements } from "./pulls";
import { runStatements } from "./runs";
import { stackStatements } from "./stacks";
import { workerStatements } from "./workers";

export const createRecords = (database: Database) => ({
  ...stackStatements(database),
  ...planStatements(database),
  ...runStatements(database),
  ...workerStatements(database),
  ...peopleStatements(database),
  ...pageStatements(database),
  ...letterStatements(database),
  ...pullStatements(database),
});
export type Records = ReturnType<typeof createRecords>;
