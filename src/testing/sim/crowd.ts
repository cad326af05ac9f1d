/** Who takes part in a schedule, and what each of them does. */
import { defaultScope, type InputId, type MessageId, type RunId } from "../../domain/ids.ts";
import type { Message } from "../../domain/message.ts";
import type { Post, PostAnswer } from "../../ports/store.ts";
import type { OfferedDecision, Ticket } from "../../runtime/runtime.ts";
import { chooseDecision, helpfulDecision } from "./decisions.ts";
import { bringIn, type Crowd, isHonestRefusal, type Person, patiently, pause, someRun, startRun } from "./people.ts";

export function gatherCrowd(place: Omit<Crowd, "log" | "healing">): Crowd {
  const { plan } = place;
  const log = { started: new Map(), told: [], inputs: [], said: [], results: [], startsLeft: plan.runs.length };
  const crowd: Crowd = { ...place, log, healing: false };
  const { people } = plan;
  for (const run of plan.runs) bringIn(`starter-${run.name}`, crowd, (person) => startRun(person, run));
  if (people.approves) bringIn("approver", crowd, approve);
  for (const name of names("canceller", people.cancels)) bringIn(name, crowd, cancel);
  for (const name of names("pauser", people.pauses)) bringIn(name, crowd, askToPause);
  for (const name of names("sender", people.inputs)) bringIn(name, crowd, send);
  for (const name of names("speaker", people.sends)) bringIn(name, crowd, speak);
  return crowd;
}

function names(name: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${name}-${index + 1}`);
}

async function approve(person: Person): Promise<void> {
  const { chance, crowd } = person;
  const { helpful, approverPaceMs } = crowd.plan.people;
  for (let round = 1; ; round += 1) {
    await pause(person, chance.between(10, approverPaceMs));
    if (crowd.healing && !helpful) return;
    const listed = await patiently(() => crowd.desk.runtime.tickets.list({ status: "open" }));
    const open = listed.filter(({ kind }) => kind !== "timer");
    if (open.length > 0) await answer(person, chance.pick(open), round);
  }
}

/** Sometimes twice at once, with different answers: one of them counts, and both are told which. */
async function answer({ chance, crowd }: Person, ticket: Ticket, round: number): Promise<void> {
  const twice = !crowd.healing && chance.chance(0.25);
  const choose = (): OfferedDecision =>
    crowd.healing ? helpfulDecision(ticket.kind) : chooseDecision(ticket.kind, chance);
  const offers = (twice ? [1, 2] : [1]).map((n) => ({ by: `approver-${round}-${n}`, decision: choose() }));
  const hash = !crowd.healing && chance.chance(0.05) ? "something else was shown" : ticket.hash;
  await Promise.all(offers.map((offer) => decide({ id: ticket.id, hash }, offer, crowd)));
}

async function decide(
  { id, hash }: Pick<Ticket, "id" | "hash">,
  { by, decision }: { readonly by: string; readonly decision: OfferedDecision },
  { desk, log }: Crowd,
): Promise<void> {
  try {
    const said = { ...decision, hash, by, key: by };
    const settlement = await patiently(() => desk.runtime.tickets.decide(id, said));
    log.told.push({ ticket: id, by, settlement });
  } catch (cause) {
    if (!isHonestRefusal(cause)) throw cause;
  }
}

async function cancel(person: Person): Promise<void> {
  const run = await someRun(person);
  await patiently(() => person.crowd.desk.runtime.runs.get(run).cancel({ by: person.owner.name }));
}

async function askToPause(person: Person): Promise<void> {
  const run = await someRun(person);
  await patiently(() => person.crowd.desk.runtime.runs.get(run).pause({ by: person.owner.name }));
}

async function send(person: Person): Promise<void> {
  const { chance, crowd, owner } = person;
  const run = await someRun(person);
  const input = `${owner.name}-input` as InputId;
  const message: Message = { id: input as string as MessageId, role: "user", parts: [], visibility: "all" };
  const sent = await post(run, { type: "input-received", input, message, by: owner.name }, crowd);
  if (sent.kind !== "posted") return;
  const kept = { run, input, withdrawn: false };
  crowd.log.inputs.push(kept);
  if (!chance.chance(0.4)) return;
  await pause(person, chance.int(400));
  const back = await post(run, { type: "input-withdrawn", input, by: owner.name }, crowd);
  kept.withdrawn = back.kind === "posted";
}

/** Through the handle, as a user would; a run that has ended says so, and then nothing was said. */
async function speak(person: Person): Promise<void> {
  const { crowd, owner } = person;
  const run = await someRun(person);
  const said = { by: owner.name, key: owner.name };
  const sent = await patiently(() => crowd.desk.runtime.runs.get(run).send(owner.name, said));
  crowd.log.inputs.push({ run, input: sent.id, withdrawn: false });
  crowd.log.said.push({ text: owner.name, run });
}

/** The same through the port: an id of one's own, and taking it back. */
async function post(run: RunId, fact: Post["fact"], { desk }: Crowd): Promise<PostAnswer> {
  const { store, bus } = desk.ports;
  const key = `${fact.type}-${"input" in fact ? fact.input : ""}`;
  const answer = await patiently(() => store.post({ scope: defaultScope, run, fact, key }));
  if (answer.kind === "posted") await bus.publish({ scope: defaultScope, run, seq: answer.seq });
  return answer;
}
