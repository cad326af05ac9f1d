import { v7 } from "uuid";
import type { Ids } from "../ports/ids.ts";

export const nodeIds: Ids = { next: () => v7() };
