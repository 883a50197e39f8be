/**
 * Whether a URL's host is this machine: the one place where credentials and the state may go without TLS. The host is
 * the one a URL parser gives back: it writes every spelling of an IPv4 address (short, octal, hexadecimal) as four
 * decimal numbers, so that a name such as 127.evil.example is not taken for an address.
 */
export const isLoopbackHost = (hostname: string): boolean =>
  hostname === "localhost" || hostname === "[::1]" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname);
