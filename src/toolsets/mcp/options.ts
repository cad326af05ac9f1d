/** What an operator says about an MCP server. Everything is checked before anything is started, and unknown names are refused. */
import { type ApprovalTerms, termsProblems } from "../../domain/approval.ts";
import { isFunction, Problems, shown } from "../../domain/problems.ts";
import { isSecret, type Secret } from "../../domain/secret.ts";
import type { EffectClass } from "../../domain/tool.ts";
import { type McpLimits, readLimits } from "./limits.ts";
import type { McpPins } from "./pins.ts";
import type { McpStatus } from "./status.ts";

export interface McpStdio {
  readonly command: string;
  readonly args?: readonly (string | Secret)[];
  /** Besides what every program needs (PATH, HOME and the like). Nothing else of this process's environment is given. */
  readonly env?: Readonly<Record<string, string | Secret>>;
  readonly cwd?: string;
}

export interface McpHttp {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string | Secret>>;
}

/** What the operator knows about one tool. It counts more than anything that the server says. */
export interface McpToolOptions {
  readonly effect?: Exclude<EffectClass, "transactional" | "child" | "handoff">;
  readonly needsApproval?: boolean;
  readonly approval?: ApprovalTerms;
  readonly timeoutMs?: number;
  readonly onUnknown?: "ask" | "tell-model";
}

export interface McpServerOptions {
  /** Its tools are called `name__tool`. */
  readonly name: string;
  /** A program of this machine, started by this process and spoken to over its standard input and output. */
  readonly stdio?: McpStdio;
  /** A server that is reached over streamable HTTP. */
  readonly http?: McpHttp;
  /** The tools to take, as the server calls them; all unless said. */
  readonly only?: readonly string[];
  /** By the names that the server uses. */
  readonly tools?: Readonly<Record<string, McpToolOptions>>;
  /** Whether a person is asked before every call; `tools` may say otherwise for one. */
  readonly needsApproval?: boolean;
  /**
   * trust: a tool that the server calls read-only is `pure`, an idempotent one `idempotent`, and a destructive one needs
   * approval. ignore (unless said): what the server says about itself counts for nothing.
   */
  readonly hints?: "ignore" | "trust";
  /** The tools as somebody has seen them: with these, agents can be defined before the server is reached. */
  readonly pins?: McpPins;
  /** Folders or file:// addresses that the server is told it may work in. */
  readonly roots?: readonly string[];
  /** Adds two tools with which a model lists and reads the server's resources. */
  readonly resources?: boolean;
  readonly limits?: Partial<McpLimits>;
  /** Told whenever the connection or the server's tools have changed. */
  readonly onStatus?: (status: McpStatus) => void;
}

export const optionNames = [
  "name",
  "stdio",
  "http",
  "only",
  "tools",
  "needsApproval",
  "hints",
  "pins",
  "roots",
  "resources",
  "limits",
  "onStatus",
] as const satisfies readonly (keyof McpServerOptions)[];

/** Without "__", so that server and tool can be told apart in `server__tool`. */
const namePattern = /^(?!.*__)[a-zA-Z0-9][a-zA-Z0-9_-]{0,22}[a-zA-Z0-9]$|^[a-zA-Z0-9]$/;
const maxTimeoutMs = 24 * 60 * 60_000;

export function checkOptions(options: McpServerOptions): McpLimits {
  const problems = new Problems(options, optionNames);
  const isName = (name: unknown): boolean => typeof name === "string" && namePattern.test(name);
  problems.check("name", isName, `must match ${namePattern}`);
  if ((options?.stdio === undefined) === (options?.http === undefined)) problems.add("stdio, http: give one of them");
  if (options?.stdio !== undefined) problems.include("stdio", stdioProblems(options.stdio));
  if (options?.http !== undefined) problems.include("http", httpProblems(options.http));
  problems.optional("only", isTexts, "must be a list of tool names");
  if (options?.tools !== undefined) problems.include("tools", toolProblems(options.tools));
  problems.optional("needsApproval", (value) => typeof value === "boolean", "must be a boolean");
  problems.oneOf("hints", ["ignore", "trust"]);
  problems.optional("roots", isTexts, "must be a list of folders or file:// addresses");
  problems.optional("resources", (value) => typeof value === "boolean", "must be a boolean");
  problems.optional("onStatus", isFunction, "must be a function of the status");
  const limits = readLimits(options?.limits, problems);
  problems.refuse("invalid-options", `MCP server ${shown(options?.name)} cannot be defined`);
  return limits;
}

function stdioProblems(stdio: McpStdio): Problems {
  const problems = new Problems(stdio, ["command", "args", "env", "cwd"]);
  problems.check("command", isText, "must be the name or path of a program");
  problems.optional("args", (args) => Array.isArray(args) && args.every(isTextOrSecret), "must be a list of strings");
  problems.optional("env", isTextRecord, "must be a record of strings and secrets");
  problems.optional("cwd", isText, "must be a folder");
  return problems;
}

function httpProblems(http: McpHttp): Problems {
  const problems = new Problems(http, ["url", "headers"]);
  problems.check("url", isHttpUrl, "must be an http:// or https:// address without a user in it");
  problems.optional("headers", isHeaders, "must be a record of header names with strings or secrets");
  return problems;
}

const toolOptionNames = ["effect", "needsApproval", "approval", "timeoutMs", "onUnknown"];

function toolProblems(tools: Readonly<Record<string, McpToolOptions>>): Problems {
  const problems = new Problems(tools, Object.keys(tools ?? {}));
  for (const [name, given] of Object.entries(tools ?? {})) {
    const inner = new Problems(given, toolOptionNames);
    inner.oneOf("effect", ["pure", "idempotent", "once"]);
    inner.optional("needsApproval", (value) => typeof value === "boolean", "must be a boolean");
    inner.integer("timeoutMs", 1, maxTimeoutMs);
    inner.oneOf("onUnknown", ["ask", "tell-model"]);
    if (given?.approval !== undefined) inner.include("approval", termsProblems(given.approval));
    problems.include(name, inner);
  }
  return problems;
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value.length > 0 && !value.includes("\0");
}

function isTextOrSecret(value: unknown): boolean {
  return isSecret(value) || (typeof value === "string" && !value.includes("\0"));
}

function isTexts(list: unknown): boolean {
  return Array.isArray(list) && list.every(isText);
}

function isTextRecord(record: unknown): boolean {
  if (typeof record !== "object" || record === null || Array.isArray(record)) return false;
  return Object.entries(record).every(([name, value]) => /^[^=\0]+$/.test(name) && isTextOrSecret(value));
}

function isHeaders(record: unknown): boolean {
  if (!isTextRecord(record)) return false;
  try {
    return Object.entries(record as object).every(([name, value]) => new Headers([[name, plain(value)]]) !== undefined);
  } catch {
    return false;
  }
}

/** A user or a password in an address would be shown wherever the address is. */
function isHttpUrl(value: unknown): boolean {
  const url = typeof value === "string" && URL.canParse(value) ? new URL(value) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "";
}

export function plain(value: string | Secret): string {
  return typeof value === "string" ? value : value.reveal();
}
