import { expect, test } from "vitest";
import { answerIn, answerToolFor } from "../../src/domain/answer-tool.ts";

test("an object schema is the input schema as it is", () => {
  const schema = { type: "object", properties: { a: { $ref: "#/$defs/A" } }, $defs: { A: {} } };
  expect(answerToolFor(schema).inputSchema).toBe(schema);
  expect(answerIn(schema, { answer: 1 })).toEqual({ answer: 1 });
});

test("references are moved with what they refer to, and data is left alone", () => {
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    anyOf: [{ $ref: "#/$defs/A" }, { $ref: "#" }, { $ref: "#/anyOf/0" }, { $ref: "#anchor" }, { $ref: "other.json" }],
    default: { $ref: "#" },
    enum: [{ $ref: "#" }],
    properties: { $ref: { $ref: "#" }, default: { $ref: "#/anyOf/1" } },
    $defs: { A: { items: { $ref: "#" } }, enum: { $ref: "#/definitions/B" } },
    definitions: { B: true },
  };
  expect(answerToolFor(schema).inputSchema).toEqual({
    type: "object",
    required: ["answer"],
    additionalProperties: false,
    properties: {
      answer: {
        anyOf: [
          { $ref: "#/$defs/A" },
          { $ref: "#/properties/answer" },
          { $ref: "#/properties/answer/anyOf/0" },
          { $ref: "#anchor" },
          { $ref: "other.json" },
        ],
        default: { $ref: "#" },
        enum: [{ $ref: "#" }],
        properties: {
          $ref: { $ref: "#/properties/answer" },
          default: { $ref: "#/properties/answer/anyOf/1" },
        },
      },
    },
    $defs: { A: { items: { $ref: "#/properties/answer" } }, enum: { $ref: "#/definitions/B" } },
    definitions: { B: true },
  });
});

test.each([[null], [1], [[1]], [{}], [{ answer: 1, more: 2 }], [{ toString: 1 }]])(
  "%j holds no wrapped answer",
  (input) => {
    expect(answerIn({ type: "string" }, input)).toBeUndefined();
  },
);

test("a wrapped null is an answer", () => {
  expect(answerIn({ type: "null" }, { answer: null })).toBeNull();
});
