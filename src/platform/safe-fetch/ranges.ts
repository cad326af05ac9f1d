/** Which addresses belong to the open internet, from the special-purpose registries of IPv4 and IPv6. */
import { type Address, contains, knownRange, unwrapped } from "./address.ts";

const closed = [
  ["this network", "0.0.0.0/8"],
  ["private", "10.0.0.0/8"],
  ["shared by carriers", "100.64.0.0/10"],
  ["loopback", "127.0.0.0/8"],
  ["link-local", "169.254.0.0/16"],
  ["private", "172.16.0.0/12"],
  ["protocol assignments", "192.0.0.0/24"],
  ["documentation", "192.0.2.0/24"],
  ["6to4 relay", "192.88.99.0/24"],
  ["private", "192.168.0.0/16"],
  ["benchmarks", "198.18.0.0/15"],
  ["documentation", "198.51.100.0/24"],
  ["documentation", "203.0.113.0/24"],
  ["multicast", "224.0.0.0/4"],
  ["reserved", "240.0.0.0/4"],
  ["protocol assignments", "2001::/23"],
  ["documentation", "2001:db8::/32"],
  ["6to4", "2002::/16"],
  ["documentation", "3fff::/20"],
].map(([name = "", text = ""]) => ({ name: `${name}, ${text}`, range: knownRange(text) }));

/** All of IPv6 that is handed out; loopback, link-local, unique local and multicast lie outside. */
const openSix = knownRange("2000::/3");

/** Where clouds answer with a machine's own credentials. */
const metadata = ["169.254.169.254", "169.254.170.2", "100.100.100.200", "fd00:ec2::254", "fd20:ce::254"].map(
  knownRange,
);

export function isMetadata(address: Address): boolean {
  return metadata.some((range) => contains(range, unwrapped(address)));
}

/** Why an address is not one of the open internet; undefined when it is. */
export function closedBecause(address: Address): string | undefined {
  if (isMetadata(address)) return "cloud metadata";
  const judged = unwrapped(address);
  if (judged.family === 6 && !contains(openSix, judged)) return "private IPv6, outside 2000::/3";
  return closed.find(({ range }) => contains(range, judged))?.name;
}
