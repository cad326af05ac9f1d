const needed = [22, 18] as const;

/** One clear sentence when this Node is too old, undefined when it fits. */
export function nodeProblem(version: string = process.versions.node): string | undefined {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > needed[0] || (major === needed[0] && minor >= needed[1])) return undefined;
  return `Holdfast needs Node ${needed.join(".")} or newer, and this is ${version}`;
}
