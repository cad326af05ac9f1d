import type { Part, Role } from "../domain/message.ts";

/** An image or a file as its bytes. Small ones are stored in the message, larger ones as content. */
export interface NewFile {
  readonly type: "image" | "file";
  readonly mediaType: string;
  readonly body: Uint8Array;
  /** Of a file. */
  readonly name?: string;
}

/** A part from outside. */
export type NewPart = Part | NewFile;

/** A message from outside; its id is made unless it brings one. */
export interface NewMessage {
  readonly id?: string;
  readonly role: Role;
  readonly parts: readonly NewPart[];
  readonly visibility?: "all" | "internal";
}
