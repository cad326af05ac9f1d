/** Standard Schema's interface (standardschema.dev), as types only: any library that speaks it fits. */

export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly jsonSchema?: JsonSchemaConverter | undefined;
  };
}

/** The JSON Schema half of the standard; tools need it because a model reads JSON Schema. */
export interface JsonSchemaConverter {
  readonly input: (options: { readonly target: "draft-2020-12" }) => Record<string, unknown>;
  readonly output: (options: { readonly target: "draft-2020-12" }) => Record<string, unknown>;
}

export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export type InputOf<Schema extends StandardSchema> = NonNullable<Schema["~standard"]["types"]>["input"];
export type OutputOf<Schema extends StandardSchema> = NonNullable<Schema["~standard"]["types"]>["output"];

export function isStandardSchema(value: unknown): value is StandardSchema {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
  const standard = (value as Partial<StandardSchema>)["~standard"];
  return (
    typeof standard === "object" &&
    standard !== null &&
    standard.version === 1 &&
    typeof standard.validate === "function"
  );
}

export function showIssues(issues: readonly SchemaIssue[]): string {
  return issues.map((issue) => `${showPath(issue.path)}: ${issue.message}`).join("; ");
}

/** Where they are, and no word of what is there: a name that is not among the known ones is the value's own. */
export function showPlaces(issues: readonly SchemaIssue[], known: ReadonlySet<string>): string {
  const show = (key: PropertyKey): string => (typeof key === "number" || known.has(String(key)) ? String(key) : "…");
  return [...new Set(issues.map(({ path }) => ["$", ...keysOf(path).map(show)].join(".")))].join(", ");
}

function showPath(path: SchemaIssue["path"]): string {
  return ["$", ...keysOf(path).map(String)].join(".");
}

function keysOf(path: SchemaIssue["path"]): readonly PropertyKey[] {
  return (path ?? []).map((step) => (typeof step === "object" ? step.key : step));
}
