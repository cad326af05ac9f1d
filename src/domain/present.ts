type Present<Fields> = { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> };

/** The fields that are there: an optional one is absent, never undefined. */
export function present<Fields extends object>(fields: Fields): Present<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Present<Fields>;
}
