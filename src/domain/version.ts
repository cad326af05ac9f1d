/** The version of this package. A test compares it with package.json. */
export const holdfastVersion = "0.1.0";
