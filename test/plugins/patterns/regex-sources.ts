/** Random regular expressions of the supported syntax, as text. */
import fc from "fast-check";

const characters = fc.constantFrom(..."abAB1_ é", "😀", "\\.", "\\/", "\\n", "\\t", "\\u0061", "\\x41");
const sets = fc.constantFrom(".", "\\d", "\\w", "\\s", "\\D", "\\W", "\\S");
const classMembers = fc.constantFrom(..."aB1é_.(*", "a-c", "A-Z", "\\w", "\\S", "\\]", "\\n", "^", "\\-");
const classes = fc
  .tuple(fc.constantFrom("[", "[^"), fc.array(classMembers, { minLength: 1, maxLength: 3 }))
  .map(([open, members]) => `${open}${members.sort().reverse().join("")}]`)
  .map((source) => source.replace("[^^", "[^\\^").replace("[^]", "[\\^]"));
const places = fc.constantFrom("^", "$", "\\b", "\\B");
const counts = fc.constantFrom("*", "+", "?", "*?", "+?", "??", "{2}", "{0,2}", "{1,3}", "{1,}", "{0}", "{2,3}?");

const { source } = fc.letrec<{ source: string; term: string; group: string }>((tie) => ({
  source: fc
    .array(fc.array(tie("term"), { maxLength: 4 }), { minLength: 1, maxLength: 3 })
    .map((choices) => choices.map((terms) => terms.join("")).join("|")),
  term: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    { arbitrary: characters, weight: 4 },
    { arbitrary: fc.oneof(sets, classes, places), weight: 3 },
    { arbitrary: fc.tuple(fc.oneof(characters, sets, classes), counts).map((pair) => pair.join("")), weight: 3 },
    { arbitrary: fc.tuple(tie("group"), counts).map((pair) => pair.join("")), weight: 2 },
    { arbitrary: tie("group"), weight: 1 },
  ),
  group: fc.tuple(fc.constantFrom("(", "(?:"), tie("source")).map(([open, inner]) => `${open}${inner})`),
}));

export const regexSources: fc.Arbitrary<string> = source.filter((text) => text.length < 60);
