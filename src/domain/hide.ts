/** Hides fields of records by rules that a compiler can check for completeness. */

export const hiddenMark = "[hidden]";

/** `shown` as it is, `hidden` behind the mark, or something between. */
export type Rule<Value> = "shown" | "hidden" | ((value: Value) => Value);

type FieldOf<Union> = Union extends unknown ? keyof Union : never;
type ValueOf<Union, Field> = Union extends unknown
  ? Field extends keyof Union
    ? NonNullable<Union[Field]>
    : never
  : never;

/** A rule for every field that any member of the union has. */
export type Rules<Union> = { readonly [Field in FieldOf<Union>]-?: Rule<ValueOf<Union, Field>> };

/** The members of a union that may have this tag. */
export type Tagged<Union, Tag extends string, Value> =
  Union extends Readonly<Record<Tag, infer Own>> ? (Value extends Own ? Union : never) : never;

export type Without<Union, Field extends PropertyKey> = Union extends unknown ? Omit<Union, Field> : never;

/** A field without a rule is hidden: it is newer than the rules. */
export function hide<Union extends object>(value: Union, rules: Rules<Union>): Union {
  const seen = Object.entries(value).map(([name, field]) => [name, apply(field, ruleOf(rules, name))]);
  return Object.fromEntries(seen) as Union;
}

/** The same with a table of rules by tag; where one field means different things. */
export function hideBy<Tag extends string, Union extends Readonly<Record<Tag, string>>>(
  tag: Tag,
  rules: { readonly [Value in Union[Tag]]: Rules<Without<Tagged<Union, Tag, Value>, Tag>> },
): (value: Union) => Union {
  return (value) => {
    const own = ruleOf(rules, value[tag]) ?? {};
    return hide(value, { ...(own as object), [tag]: "shown" } as unknown as Rules<Union>);
  };
}

function ruleOf(rules: object, name: string): unknown {
  return Object.hasOwn(rules, name) ? (rules as Readonly<Record<string, unknown>>)[name] : undefined;
}

function apply(value: unknown, rule: unknown): unknown {
  if (value === undefined || rule === "shown") return value;
  return typeof rule === "function" ? (rule as (given: unknown) => unknown)(value) : hiddenMark;
}

export function hideItems(items: readonly string[]): readonly string[] {
  return items.map(() => hiddenMark);
}

/** Empty text has nothing to hide. */
export function hideText(text: string): string {
  return text === "" ? text : hiddenMark;
}
