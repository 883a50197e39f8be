/**
 * The beginning of a transaction that makes tables where several processes may come first at once: PostgreSQL refuses
 * one of two that make the same one.
 *
 * Waiting for the lock tells a connection nothing of what was made meanwhile, so that one that had asked before would
 * make the schema once more and fail. Reading a table tells it.
 */
export const beginMaking = (lock: string, schema: string, isSchemaThere: boolean): readonly string[] => [
  `SELECT pg_advisory_xact_lock(hashtext('${lock}'))`,
  "SELECT FROM pg_catalog.pg_namespace LIMIT 0",
  // A role that may make no schemas is refused here even where there is one already.
  ...(isSchemaThere ? [] : [`CREATE SCHEMA IF NOT EXISTS ${schema}`]),
];

/** Whether there is a schema, of which the parameter has the quoted name. */
export const hasSchema = (parameter: string): string => `to_regnamespace(${parameter}) IS NOT NULL`;
