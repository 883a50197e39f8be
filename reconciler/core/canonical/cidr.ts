/** One spelling for a range of addresses: `10.0.0.7/24` and `10.0.0.0/24` are the same, an address alone is its /32 or /128. */
import ipaddr from "ipaddr.js";
import { remembered } from "../text/remembered";

export interface Cidr {
  readonly text: string;
  readonly ethertype: "IPv4" | "IPv6";
  readonly prefix: number;
}

/**
 * `undefined` when the text is no address range. Short forms such as `10.1` are refused: their meaning is a guess. Most
 * rules of a project name the same few ranges.
 */
export const parseCidr = remembered(parse, 1000);

function parse(text: string): Cidr | undefined {
  const trimmed = text.trim();
  const slash = trimmed.indexOf("/");
  const addressText = slash === -1 ? trimmed : trimmed.slice(0, slash);
  const prefixText = slash === -1 ? undefined : trimmed.slice(slash + 1);
  const isV4 = ipaddr.IPv4.isValidFourPartDecimal(addressText);
  if (!isV4 && (!ipaddr.IPv6.isValid(addressText) || addressText.includes("%"))) return undefined;
  const bits = isV4 ? 32 : 128;
  if (prefixText !== undefined && !/^(0|[1-9][0-9]{0,2})$/.test(prefixText)) return undefined;
  const prefix = prefixText === undefined ? bits : Number(prefixText);
  if (prefix > bits) return undefined;
  const network = isV4
    ? ipaddr.IPv4.networkAddressFromCIDR(`${addressText}/${prefix}`)
    : ipaddr.IPv6.networkAddressFromCIDR(`${addressText}/${prefix}`);
  return { text: `${network.toString()}/${prefix}`, ethertype: isV4 ? "IPv4" : "IPv6", prefix };
}

/** What to write for an address whose prefix is none; `undefined`: it is no address. */
export function fixOfPrefix(text: string): string | undefined {
  const [alone = ""] = text.split("/", 1);
  const address = alone === text ? undefined : parseCidr(alone);
  if (address === undefined) return undefined;
  return `write a prefix from 0 to ${address.prefix}; ${alone}/${address.prefix} is this address alone`;
}
