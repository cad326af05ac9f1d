/** Checked by tsc, never run: fifty different tools in one agent are no matter of depth. */
import { z } from "zod";
import { agent, type Runtime, tool } from "../../src/index.ts";
import { scripted } from "../../src/testing.ts";
import { type Equal, holds } from "./equal.ts";

const deep = z.object({
  list: z.array(z.union([z.string(), z.object({ kind: z.literal("a"), value: z.record(z.string(), z.number()) })])),
  nested: z.object({ a: z.object({ b: z.object({ c: z.enum(["x", "y"]).optional() }) }) }),
});

const of = (name: string) => ({ name, description: name });

const t0 = tool({ ...of("t0"), input: deep.extend({ f0: z.number() }), execute: ({ f0 }) => ({ r0: f0 }) });
const t1 = tool({ ...of("t1"), input: deep.extend({ f1: z.number() }), execute: ({ f1 }) => ({ r1: f1 }) });
const t2 = tool({ ...of("t2"), input: deep.extend({ f2: z.number() }), execute: ({ f2 }) => ({ r2: f2 }) });
const t3 = tool({ ...of("t3"), input: deep.extend({ f3: z.number() }), execute: ({ f3 }) => ({ r3: f3 }) });
const t4 = tool({ ...of("t4"), input: deep.extend({ f4: z.number() }), execute: ({ f4 }) => ({ r4: f4 }) });
const t5 = tool({ ...of("t5"), input: deep.extend({ f5: z.number() }), execute: ({ f5 }) => ({ r5: f5 }) });
const t6 = tool({ ...of("t6"), input: deep.extend({ f6: z.number() }), execute: ({ f6 }) => ({ r6: f6 }) });
const t7 = tool({ ...of("t7"), input: deep.extend({ f7: z.number() }), execute: ({ f7 }) => ({ r7: f7 }) });
const t8 = tool({ ...of("t8"), input: deep.extend({ f8: z.number() }), execute: ({ f8 }) => ({ r8: f8 }) });
const t9 = tool({ ...of("t9"), input: deep.extend({ f9: z.number() }), execute: ({ f9 }) => ({ r9: f9 }) });
const t10 = tool({ ...of("t10"), input: deep.extend({ f10: z.number() }), execute: ({ f10 }) => ({ r10: f10 }) });
const t11 = tool({ ...of("t11"), input: deep.extend({ f11: z.number() }), execute: ({ f11 }) => ({ r11: f11 }) });
const t12 = tool({ ...of("t12"), input: deep.extend({ f12: z.number() }), execute: ({ f12 }) => ({ r12: f12 }) });
const t13 = tool({ ...of("t13"), input: deep.extend({ f13: z.number() }), execute: ({ f13 }) => ({ r13: f13 }) });
const t14 = tool({ ...of("t14"), input: deep.extend({ f14: z.number() }), execute: ({ f14 }) => ({ r14: f14 }) });
const t15 = tool({ ...of("t15"), input: deep.extend({ f15: z.number() }), execute: ({ f15 }) => ({ r15: f15 }) });
const t16 = tool({ ...of("t16"), input: deep.extend({ f16: z.number() }), execute: ({ f16 }) => ({ r16: f16 }) });
const t17 = tool({ ...of("t17"), input: deep.extend({ f17: z.number() }), execute: ({ f17 }) => ({ r17: f17 }) });
const t18 = tool({ ...of("t18"), input: deep.extend({ f18: z.number() }), execute: ({ f18 }) => ({ r18: f18 }) });
const t19 = tool({ ...of("t19"), input: deep.extend({ f19: z.number() }), execute: ({ f19 }) => ({ r19: f19 }) });
const t20 = tool({ ...of("t20"), input: deep.extend({ f20: z.number() }), execute: ({ f20 }) => ({ r20: f20 }) });
const t21 = tool({ ...of("t21"), input: deep.extend({ f21: z.number() }), execute: ({ f21 }) => ({ r21: f21 }) });
const t22 = tool({ ...of("t22"), input: deep.extend({ f22: z.number() }), execute: ({ f22 }) => ({ r22: f22 }) });
const t23 = tool({ ...of("t23"), input: deep.extend({ f23: z.number() }), execute: ({ f23 }) => ({ r23: f23 }) });
const t24 = tool({ ...of("t24"), input: deep.extend({ f24: z.number() }), execute: ({ f24 }) => ({ r24: f24 }) });
const t25 = tool({ ...of("t25"), input: deep.extend({ f25: z.number() }), execute: ({ f25 }) => ({ r25: f25 }) });
const t26 = tool({ ...of("t26"), input: deep.extend({ f26: z.number() }), execute: ({ f26 }) => ({ r26: f26 }) });
const t27 = tool({ ...of("t27"), input: deep.extend({ f27: z.number() }), execute: ({ f27 }) => ({ r27: f27 }) });
const t28 = tool({ ...of("t28"), input: deep.extend({ f28: z.number() }), execute: ({ f28 }) => ({ r28: f28 }) });
const t29 = tool({ ...of("t29"), input: deep.extend({ f29: z.number() }), execute: ({ f29 }) => ({ r29: f29 }) });
const t30 = tool({ ...of("t30"), input: deep.extend({ f30: z.number() }), execute: ({ f30 }) => ({ r30: f30 }) });
const t31 = tool({ ...of("t31"), input: deep.extend({ f31: z.number() }), execute: ({ f31 }) => ({ r31: f31 }) });
const t32 = tool({ ...of("t32"), input: deep.extend({ f32: z.number() }), execute: ({ f32 }) => ({ r32: f32 }) });
const t33 = tool({ ...of("t33"), input: deep.extend({ f33: z.number() }), execute: ({ f33 }) => ({ r33: f33 }) });
const t34 = tool({ ...of("t34"), input: deep.extend({ f34: z.number() }), execute: ({ f34 }) => ({ r34: f34 }) });
const t35 = tool({ ...of("t35"), input: deep.extend({ f35: z.number() }), execute: ({ f35 }) => ({ r35: f35 }) });
const t36 = tool({ ...of("t36"), input: deep.extend({ f36: z.number() }), execute: ({ f36 }) => ({ r36: f36 }) });
const t37 = tool({ ...of("t37"), input: deep.extend({ f37: z.number() }), execute: ({ f37 }) => ({ r37: f37 }) });
const t38 = tool({ ...of("t38"), input: deep.extend({ f38: z.number() }), execute: ({ f38 }) => ({ r38: f38 }) });
const t39 = tool({ ...of("t39"), input: deep.extend({ f39: z.number() }), execute: ({ f39 }) => ({ r39: f39 }) });
const t40 = tool({ ...of("t40"), input: deep.extend({ f40: z.number() }), execute: ({ f40 }) => ({ r40: f40 }) });
const t41 = tool({ ...of("t41"), input: deep.extend({ f41: z.number() }), execute: ({ f41 }) => ({ r41: f41 }) });
const t42 = tool({ ...of("t42"), input: deep.extend({ f42: z.number() }), execute: ({ f42 }) => ({ r42: f42 }) });
const t43 = tool({ ...of("t43"), input: deep.extend({ f43: z.number() }), execute: ({ f43 }) => ({ r43: f43 }) });
const t44 = tool({ ...of("t44"), input: deep.extend({ f44: z.number() }), execute: ({ f44 }) => ({ r44: f44 }) });
const t45 = tool({ ...of("t45"), input: deep.extend({ f45: z.number() }), execute: ({ f45 }) => ({ r45: f45 }) });
const t46 = tool({ ...of("t46"), input: deep.extend({ f46: z.number() }), execute: ({ f46 }) => ({ r46: f46 }) });
const t47 = tool({ ...of("t47"), input: deep.extend({ f47: z.number() }), execute: ({ f47 }) => ({ r47: f47 }) });
const t48 = tool({ ...of("t48"), input: deep.extend({ f48: z.number() }), execute: ({ f48 }) => ({ r48: f48 }) });
const t49 = tool({ ...of("t49"), input: deep.extend({ f49: z.number() }), execute: ({ f49 }) => ({ r49: f49 }) });

const tools = [
  t0,
  t1,
  t2,
  t3,
  t4,
  t5,
  t6,
  t7,
  t8,
  t9,
  t10,
  t11,
  t12,
  t13,
  t14,
  t15,
  t16,
  t17,
  t18,
  t19,
  t20,
  t21,
  t22,
  t23,
  t24,
  t25,
  t26,
  t27,
  t28,
  t29,
  t30,
  t31,
  t32,
  t33,
  t34,
  t35,
  t36,
  t37,
  t38,
  t39,
  t40,
  t41,
  t42,
  t43,
  t44,
  t45,
  t46,
  t47,
  t48,
  t49,
];
export const many = agent({ name: "many", model: scripted(["Hi."]), instructions: "Do.", tools });

export async function last(runtime: Runtime): Promise<void> {
  const [ticket] = await runtime.tickets.list({ tool: t49, kind: "approval" });
  if (!ticket) return;
  holds<Equal<typeof ticket.input.f49, number>>();
  holds<Equal<typeof ticket.input.nested.a.b.c, "x" | "y" | undefined>>();
  await ticket.answer({ r49: 1 });
  // @ts-expect-error the result of another tool
  await ticket.answer({ r48: 1 });
  const result = await runtime.run(many, "go");
  if (result.outcome === "completed") holds<Equal<typeof result.output, string>>();
}
