/**
 * The address as PostgreSQL's driver gets it. The driver verifies the server for these modes as for `verify-full`, and
 * prints a warning of several lines over a command's output that a later version of it will not.
 */
export function driverAddress(address: string): string {
  const url = new URL(address);
  const { searchParams } = url;
  const isWarnedOf = ["prefer", "require", "verify-ca"].includes(searchParams.getAll("sslmode").at(-1) ?? "");
  if (!isWarnedOf || searchParams.getAll("uselibpqcompat").at(-1) === "true") return address;
  searchParams.set("sslmode", "verify-full");
  return url.toString();
}
