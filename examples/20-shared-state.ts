// State that tools share: between parallel calls, over the runs of a thread, at any moment of the past, and over a new version.
// expect: ada: 3 sources at once, 4 searches in the thread
import { agent, createRuntime, memory, type StateKey, stateKey, tool } from "holdfast";
import { scripted } from "holdfast/testing";
import { z } from "zod";

// #region keys
// Of one run. Calls give operands, and their order does not matter.
const sources = stateKey({ name: "sources", schema: z.array(z.string()), initial: [], merge: "union" });
// Of a thread: every run of it goes on from what the last one left.
const searches = stateKey({ name: "searches", schema: z.number().int(), initial: 0, merge: "sum", scope: "thread" });
const person = stateKey({ name: "person", schema: z.string(), initial: "somebody", scope: "thread" });
// #endregion keys

// #region tools
const search = tool({
  name: "search",
  description: "Look something up",
  input: z.object({ topic: z.string() }),
  effect: "pure",
  writes: [sources, searches], // both are merged, so calls run side by side
  execute: async ({ topic }, { state }) => {
    state.update(sources, [`${topic}.example`]);
    state.update(searches, 1);
    return `all about ${topic}`;
  },
});
const meet = tool({
  name: "meet",
  description: "Remember who is talking",
  input: z.object({ name: z.string() }),
  effect: "pure",
  writes: [person], // exclusive: calls that write it run one after the other
  execute: ({ name }, { state }) => {
    const known = state.get(person);
    state.set(person, name);
    return `before: ${known}`;
  },
});
// #endregion tools

const calls = (...topics: readonly string[]) => topics.map((topic) => ({ tool: "search", input: { topic } }));
const librarian = agent({
  name: "librarian",
  instructions: "Look things up.",
  model: scripted([
    ({ messages }) => ({
      calls:
        messages.length === 1
          ? [...calls("sea", "sun", "sky"), { tool: "meet", input: { name: "ada" } }]
          : calls("fog"),
    }),
    "Done.",
  ]),
  tools: [search, meet],
});

const store = memory();
await using runtime = await createRuntime({ agents: [librarian], store });

// #region read
const first = await runtime.start(librarian, "Sea, sun and sky", { thread: "t-1" });
await first.result();
const found = (await first.state()).get(sources); // all three, whichever call was first
const second = await runtime.start(librarian, "And fog", { thread: "t-1" });
await second.result();
const alone = (await second.state()).get(sources); // ["fog.example"]: a run's own key began anew
const total = (await runtime.threads.state("t-1")).get(searches); // 4: the thread's key went on
// #endregion read

// #region past
const history: number[] = [];
for await (const event of first.watch()) {
  if (event.type !== "state-changed" || event.key !== "sources") continue;
  history.push((await first.state({ at: event.cursor })).get(sources).length); // as it was right after this event
}
// #endregion past
if (history.join() !== "1,2,3" || alone.length !== 1) throw new Error(`${history.join()} ${alone.join()}`);

// #region version
// The next version of the program. The store holds values of version 1; `migrate` is how this one reads them.
const Person = z.object({ name: z.string(), formal: z.boolean() });
const initial = { name: "somebody", formal: true };
const personNow = stateKey({
  name: "person",
  schema: Person,
  initial,
  scope: "thread",
  version: 2,
  migrate: (value) => ({ name: String(value), formal: true }),
});
const { name } = (await runtime.threads.state("t-1")).get(personNow); // "ada"
// #endregion version

// #region unread
// Without `migrate` nobody may read them: the run is set aside, and says why.
const careless = agent({
  name: "careless",
  instructions: "Greet.",
  model: scripted(["Hello."]),
  tools: [greeting(stateKey({ name: "person", schema: Person, initial, scope: "thread", version: 2 }))],
});
await using later = await createRuntime({ agents: [careless], store });
const stuck = await later.start(careless, "Hello", { thread: "t-1" });
await stuck.idle();
const [ticket] = await later.tickets.list({ run: stuck.id, status: "open" });
const why = `${ticket?.kind}: ${ticket?.prompt}`;
// #endregion unread

function greeting(key: StateKey<z.infer<typeof Person>>) {
  return tool({
    name: "greet",
    description: "Greet whoever is talking",
    input: z.object({}),
    effect: "pure",
    writes: [key],
    execute: (_input, { state }) => `Hello ${state.get(key).name}`,
  });
}
await stuck.cancel();

console.log(why);
console.log(`${name}: ${found.length} sources at once, ${total} searches in the thread`);
