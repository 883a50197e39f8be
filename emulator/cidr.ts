/** Reads a CIDR as the service does: strictly (four decimal parts, an explicit length, no zone), and its network form. */
import ipaddr from "ipaddr.js";

export interface Network {
  readonly version: "IPv4" | "IPv6";
  /** The network with its host bits cleared, in the shortest spelling. */
  readonly cidr: string;
}

export function networkOf(text: string): Network | undefined {
  const [, address, length] = /^([0-9A-Fa-f:.]{2,45})\/([0-9]{1,3})$/.exec(text) ?? [];
  if (address === undefined) return undefined;
  const bits = Number(length);
  if (address.includes(":")) {
    if (!ipaddr.IPv6.isValid(address) || bits > 128) return undefined;
    return { version: "IPv6", cidr: `${ipaddr.IPv6.networkAddressFromCIDR(`${address}/${bits}`).toString()}/${bits}` };
  }
  if (!ipaddr.IPv4.isValidFourPartDecimal(address) || bits > 32) return undefined;
  return { version: "IPv4", cidr: `${ipaddr.IPv4.networkAddressFromCIDR(`${address}/${bits}`).toString()}/${bits}` };
}
