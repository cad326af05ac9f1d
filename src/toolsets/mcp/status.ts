/** How a server is doing, for whoever operates it. Live only: nothing of it is stored. */
export interface McpStatus {
  readonly server: string;
  readonly state: "not-connected" | "connecting" | "connected" | "waiting" | "closed";
  /** Connections that have failed or were lost since one last worked. */
  readonly failures: number;
  /** Why the last connection failed or was lost. */
  readonly problem?: string;
  /** The protocol version that is spoken; only while connected. */
  readonly protocol?: string;
  /** Tools that are not what the agents were defined with; calls of them are refused. In words, by the server's names. */
  readonly changed: readonly string[];
}
