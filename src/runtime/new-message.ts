import type { Part, Role } from "../domain/message.ts";

/** A message from outside; its id is made unless it brings one. */
export interface NewMessage {
  readonly id?: string;
  readonly role: Role;
  readonly parts: readonly Part[];
  readonly visibility?: "all" | "internal";
}
