/** The service at a base URL, however that is written: with a slash at its end, in upper case, with the usual port. */
export function originAt(baseUrl: string): string {
  if (!URL.canParse(baseUrl)) return baseUrl;
  const { origin, pathname } = new URL(baseUrl);
  return origin + pathname.replace(/\/+$/, "");
}
