/** The processes of a campaign: started, started again after each death, and never dead for another reason than ours. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Child, startChild } from "../processes/child.ts";
import type { Failpoint, News } from "./failpoints.ts";

export type Role = "worker" | "client" | "watcher";

export interface Member {
  readonly role: Role;
  readonly name: string;
  readonly args: readonly string[];
  child: Child<News>;
  isReady: boolean;
  standsAt: Failpoint | undefined;
  /** Somebody is about to kill or freeze it. */
  isTaken: boolean;
  /** Its end is our doing. */
  isOurs: boolean;
}

export interface Crew {
  readonly members: readonly Member[];
  /** Deaths that nobody ordered. */
  readonly surprises: readonly string[];
  runsEnded(): number;
  hire(member: Pick<Member, "role" | "name" | "args">): void;
  /** Some member of this role that is up and left alone, taken for the caller. */
  take(role: Role): Promise<Member>;
  killAndReplace(member: Member): Promise<void>;
  dismiss(role: Role): Promise<void>;
}

const lookMs = 10;
const fresh = { isReady: false, standsAt: undefined, isTaken: false, isOurs: false };

export function createCrew(folder: string): Crew {
  const members: Member[] = [];
  const surprises: string[] = [];
  let ended = 0;

  function start(member: Pick<Member, "role" | "name" | "args">): Child<News> {
    const script = join(import.meta.dirname, `${member.role}.ts`);
    return startChild<News>({ script, args: member.args, env: { NODE_COMPILE_CACHE: join(folder, "compiled") } });
  }

  function follow(member: Member): void {
    const { child } = member;
    child.onNews((news) => {
      if (news.kind === "ready") member.isReady = true;
      if (news.kind === "stands") member.standsAt = news.at;
      if (news.kind === "ended") ended += 1;
    });
    child.exited.then((code) => {
      if (member.isOurs || (member.role === "client" && code === 0)) return;
      surprises.push(`${member.role} ${member.name} (pid ${child.pid}) ended by itself with ${code}`);
      if (!member.isTaken) replace(member);
    }, String);
  }

  function replace(member: Member): void {
    Object.assign(member, { child: start(member), ...fresh });
    follow(member);
  }

  return {
    members,
    surprises,
    runsEnded: () => ended,
    hire(what) {
      const member = { ...what, child: start(what), ...fresh };
      members.push(member);
      follow(member);
    },
    async take(role) {
      for (;;) {
        const free = members.filter((each) => each.role === role && each.isReady && !each.isTaken);
        const member = free[Math.floor(Math.random() * free.length)];
        if (member) {
          member.isTaken = true;
          return member;
        }
        await sleep(lookMs);
      }
    },
    async killAndReplace(member) {
      member.isOurs = true;
      await member.child.kill();
      replace(member);
    },
    async dismiss(role) {
      const leaving = members.filter((each) => each.role === role);
      for (const each of leaving) each.isOurs = true;
      await Promise.all(leaving.map((each) => each.child.kill()));
    },
  };
}
