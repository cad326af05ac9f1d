/** The plugins of the house: `import { … } from "holdfast/plugins"`. Each is made with the surface that every plugin has. */
export {};
