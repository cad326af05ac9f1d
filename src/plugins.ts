/** The plugins of the house: `import { … } from "holdfast/plugins"`. Each is made with the surface that every plugin has. */
export type {
  Behavior,
  PermissionRule,
  PermissionsOptions,
  RememberedThing,
  RememberOptions,
  RememberScope,
} from "./plugins/permissions/config.ts";
export { permissions } from "./plugins/permissions/permissions.ts";
export type { RememberWish } from "./plugins/permissions/wish.ts";
export type { ReminderMessage, ReminderOutput, ReminderRule, RemindersOptions } from "./plugins/reminders/config.ts";
export { reminders } from "./plugins/reminders/reminders.ts";
export type { StopConditionsOptions, StopReason } from "./plugins/stop-conditions/config.ts";
export { stopConditions } from "./plugins/stop-conditions/stop-conditions.ts";
