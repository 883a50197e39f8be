/**
 * The beginning of a transaction that makes tables where several processes may come first at once: PostgreSQL refuses
 * one of two that make the same one.
 *
 * Waiting for the lock tells a connection nothing of what was made meanwhile, so that one that had asked before would
 * make the schema once more and fail. Reading a table tells it.
 */
export const beginMaking = (lock: string, schema: string): readonly string[] => [
  `SELECT pg_advisory_xact_lock(hashtext('${lock}'))`,
  "SELECT FROM pg_catalog.pg_namespace LIMIT 0",
  `CREATE SCHEMA IF NOT EXISTS ${schema}`,
];
