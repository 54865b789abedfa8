#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""stress_gen.py - writes a HIP program of random kernels, each with the same C code for the host

    stress_gen.py --kernels N --seed N --out stress.cpp

A kernel computes on 32- and 64-bit integers and on float and double, with branches and loops, exchanges values through
LDS at barriers, and adds to counters by atomics. What it computes is fixed by the language: no signed overflow,
no shift beyond the width, no contraction, no conversion out of range. The work-items of a workgroup run in lockstep on
the host, phase by phase. In no unsigned division or 64-bit product does the first operand look
sign-extended: clang 15 takes such ones for signed ones of 24 bits, and its code gives wrong results, here as on a GPU.

The program takes the kernels from a code object, if one is given: that of this source by HIP's compiler at run time, for a GPU
that the compiler of the program does not know.
"""
import argparse
import random

HEAD = '''/* made by stress_gen.py */
#ifndef __HIPCC_RTC__
#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

static hipModule_t module; /* 0: the kernels are in the program */

static void launch(const char *name, uint32_t *out, int below, int groups, int block)
{
	void *args[] = { &out, &below };
	hipFunction_t kernel;

	if (hipModuleGetFunction(&kernel, module, name) != hipSuccess ||
	    hipModuleLaunchKernel(kernel, groups, 1, 1, block, 1, 1, 0, 0, args, 0) != hipSuccess)
		exit(2);
}
#else /* hipRTC 6.4.3 has some of these names, 7.2.4 has none */
using __hip_internal::int16_t;
using __hip_internal::int32_t;
using __hip_internal::int64_t;
using __hip_internal::int8_t;
using __hip_internal::uint16_t;
using __hip_internal::uint32_t;
using __hip_internal::uint64_t;
using __hip_internal::uint8_t;
#endif

#define BOTH __host__ __device__
#pragma clang fp contract(off)

struct Vars {
	uint32_t u[4];
	int32_t i[3];
	uint64_t l[2];
	float f[3];
	double d[2];
};

BOTH static inline uint32_t to_u(float f)
{
	return f > 0.0f && f < 1e9f ? (uint32_t)f : 77u;
}

BOTH static inline int32_t to_i(double d)
{
	return d > -1e9 && d < 1e9 ? (int32_t)d : -5;
}

/* numbers stay in a range in which they differ */
BOTH static inline float tame(float f)
{
	return f > -1e6f && f < 1e6f ? f : 0.5f;
}

BOTH static inline double tame(double d)
{
	return d > -1e9 && d < 1e9 ? d : 0.25;
}

BOTH static inline void start(Vars &v, uint32_t seed)
{
	for (int n = 0; n < 4; n++)
		v.u[n] = (seed = seed * 1664525u + 1013904223u);
	for (int n = 0; n < 3; n++)
		v.i[n] = (int32_t)(seed = seed * 1664525u + 1013904223u) >> 4;
	for (int n = 0; n < 2; n++)
		v.l[n] = (uint64_t)(seed = seed * 1664525u + 1013904223u) * 0x9e3779b97f4a7c15ull;
	for (int n = 0; n < 3; n++)
		v.f[n] = (float)(int32_t)(seed = seed * 1664525u + 1013904223u) / 65536.0f;
	for (int n = 0; n < 2; n++)
		v.d[n] = (double)(int32_t)(seed = seed * 1664525u + 1013904223u) / 1048576.0;
}

BOTH static inline uint32_t digest(const Vars &v)
{
	uint32_t r = 0, bits;
	uint64_t wide;

	for (int n = 0; n < 4; n++)
		r = r * 31 + v.u[n];
	for (int n = 0; n < 3; n++)
		r = r * 31 + (uint32_t)v.i[n];
	for (int n = 0; n < 2; n++)
		r = r * 31 + (uint32_t)(v.l[n] ^ v.l[n] >> 32);
	for (int n = 0; n < 3; n++) {
		float f = v.f[n] + 0.0f;

		memcpy(&bits, &f, sizeof(bits));
		r = r * 31 + bits;
	}
	for (int n = 0; n < 2; n++) {
		double d = v.d[n] + 0.0;

		memcpy(&wide, &d, sizeof(wide));
		r = r * 31 + (uint32_t)(wide ^ wide >> 32);
	}
	return r;
}

'''

TAIL = '''
int main(int argc, char **argv)
{
	int failed = 0;

	if (argc > 1 && hipModuleLoad(&module, argv[1]) != hipSuccess)
		return 2;

	for (size_t k = 0; k < sizeof(kernels) / sizeof(kernels[0]); k++) {
		const Entry &e = kernels[k];
		const size_t n = (size_t)e.groups * (size_t)e.block;
		std::vector<uint32_t> have(n + 8), want(n + 8);
		uint32_t *out;

		if (hipMalloc(&out, (n + 8) * 4) != hipSuccess || hipMemset(out, 0, (n + 8) * 4) != hipSuccess)
			return 2;
		e.launch(out, e.groups, e.block);
		if (hipMemcpy(have.data(), out, (n + 8) * 4, hipMemcpyDeviceToHost) != hipSuccess)
			return 2;
		(void)hipFree(out);
		e.host(want.data(), e.groups, e.block);
		for (size_t i = 0; i < n + 8; i++) {
			if (have[i] != want[i]) {
				printf("kernel %zu: %zu: %08x, not %08x\\n", k, i, have[i], want[i]);
				failed++;
				break;
			}
		}
	}
	printf("%d of %zu kernels wrong\\n", failed, sizeof(kernels) / sizeof(kernels[0]));
	return failed != 0;
}
'''


class Kernel:
    def __init__(self, rng, nr):
        self.rng, self.nr = rng, nr
        self.loops = 0

    def pick(self, *kinds):
        return self.rng.choice(kinds)

    def var(self, kind):
        return f"v.{kind}[{self.rng.randrange({'u': 4, 'i': 3, 'l': 2, 'f': 3, 'd': 2}[kind])}]"

    def expr(self, kind, depth=0):
        r = self.rng
        if depth > 2 or r.random() < 0.2:
            const = {"u": f"{r.choice([0, 1, 31, 255, 0xffffffff, r.getrandbits(32)])}u",
                     "i": f"({r.randrange(-1000, 1000)})", "l": f"{r.getrandbits(64)}ull",
                     "f": f"({r.randrange(-64, 64) / 8}f)", "d": f"({r.randrange(-640, 640) / 32})"}[kind]
            return self.var(kind) if r.random() < 0.75 else const
        a, b = self.expr(kind, depth + 1), self.expr(kind, depth + 1)
        forms = {
            "u": ["({a} + {b})", "({a} - {b})", "({a} * {b})", "(({a} ^ 0x5a5a1234u) / ({b} | 1u))", "(({a} ^ 0x5a5a1234u) % ({b} | 1u))", "({a} & {b})",
                  "({a} | {b})", "({a} ^ {b})", "(~{a})", "({a} << ({b} & 31u))", "({a} >> ({b} & 31u))",
                  "({a} < {b} ? {a} : {b})", "({a} == {b} ? {c} : {a})", "(uint32_t){i}", "(uint32_t)({l} >> 13)",
                  "to_u({f})", "(uint32_t)(uint8_t){a}", "(uint32_t)(int16_t){a}",
                  "(uint32_t)((uint64_t)({a} ^ 0x5a5a1234u) * {b} >> 32)", "(uint32_t)__builtin_popcount({a})",
                  "(uint32_t)__builtin_clz({a} | 1u)", "({f} < {g} ? {a} : {b})"],
            "i": ["(int32_t)((uint32_t){a} + (uint32_t){b})", "(int32_t)((uint32_t){a} * (uint32_t){b})",
                  "({a} / (int32_t)((((uint32_t){b}) & 1023u) + 1u))", "({a} % (int32_t)((((uint32_t){b}) & 1023u) + 1u))",
                  "({a} >> ({u} & 31u))", "({a} < {b} ? {b} : {a})", "({a} & {b})", "({a} ^ {b})", "to_i({d})",
                  "(int32_t)(int8_t){a}", "(int32_t){u}", "(int32_t)((int64_t)(int32_t)((uint32_t){a} ^ 0x5a5a1234u) * {b} >> 32)"],
            "l": ["({a} + {b})", "({a} - {b})", "({a} * {b})", "(({a} ^ 0x5a5a123455667788ull) / ({b} | 1u))",
                  "(({a} ^ 0x5a5a123455667788ull) % ({b} | 1u))", "({a} ^ ({b} >> 7))", "({a} << ({u} & 63u))", "({a} >> ({u} & 63u))", "({a} < {b} ? {a} : {b})",
                  "((uint64_t){u} << 31 ^ {w})", "((uint64_t)({u} ^ 0x5a5a1234u) * {w})", "(uint64_t)((int64_t){a} >> ({u} & 63u))"],
            "f": ["tame({a} + {b})", "tame({a} - {b})", "tame({a} * {b})", "tame({a} / ({b} * {b} + 1.0f))",
                  "({a} < {b} ? {a} : {b})", "sqrtf(fabsf({a}))", "floorf({a})", "truncf({a})", "fabsf({a})", "(-{a})",
                  "tame(fmaf({a}, {b}, {c}))", "(float){i}", "(float)({u} >> 9)", "(float)tame({d})", "fminf({a}, {b})",
                  "fmaxf({a}, {b})", "rintf({a})", "({i} < {j} ? {a} : {b})"],
            "d": ["tame({a} + {b})", "tame({a} - {b})", "tame({a} * {b})", "tame({a} / ({b} * {b} + 1.0))",
                  "({a} < {b} ? {a} : {b})", "sqrt(fabs({a}))", "floor({a})", "tame(fma({a}, {b}, {c}))", "(double){i}",
                  "(double){u}", "(double){f}", "fmin({a}, {b})", "(-{a})"],
        }[kind]
        form = r.choice(forms)
        return form.format(a=a, b=b, c=self.var(kind), u=self.var("u"), w=self.var("u"), i=self.var("i"),
                           j=self.var("i"), l=self.var("l"), f=self.var("f"), g=self.var("f"), d=self.var("d"))

    def condition(self):
        k = self.pick("u", "i", "l", "f", "d")
        return f"{self.expr(k, 2)} {self.pick('<', '>', '==', '!=', '<=')} {self.expr(k, 2)}"

    def block(self, depth, indent):
        out = []
        tab = "\t" * indent
        for _ in range(self.rng.randrange(2, 5)):
            r = self.rng.random()
            if r < 0.62 or depth >= 2:
                k = self.pick("u", "u", "i", "l", "f", "f", "d")
                out.append(f"{tab}{self.var(k)} = {self.expr(k)};")
            elif r < 0.82:
                out.append(f"{tab}if ({self.condition()}) {{")
                out += self.block(depth + 1, indent + 1)
                if self.rng.random() < 0.6:
                    out.append(f"{tab}}} else {{")
                    out += self.block(depth + 1, indent + 1)
                out.append(f"{tab}}}")
            else:
                n = f"n{self.loops}"
                self.loops += 1
                out.append(f"{tab}for (uint32_t {n} = 0; {n} < ({self.var('u')} & 7u); {n}++) {{")
                out += self.block(depth + 1, indent + 1)
                if self.rng.random() < 0.4:
                    out.append(f"{tab}\tif ({self.condition()})\n{tab}\t\t{self.pick('break', 'continue')};")
                out.append(f"{tab}}}")
        return out

    def source(self):
        phases = self.rng.randrange(1, 4)
        block = self.rng.choice([32, 64, 96, 128, 200, 256])
        groups = self.rng.randrange(1, 4)
        out = []
        for p in range(phases):
            out.append(f"BOTH static void phase{self.nr}_{p}(Vars &v)\n{{")
            out += self.block(0, 1)
            out.append("}\n")
        stride = self.rng.randrange(1, block)
        below = self.rng.randrange(1, block)

        # as a tile with a halo is read: addresses of LDS are negative bases and offsets, for the first work-items
        def halo(t):
            return " + ".join(f"({t} - below + {j} >= 0 && {t} - below + {j} < {block} ? shared[{t} - below + {j}] * {j + 3}u : {j}u)"
                              for j in range(6))
        out.append(f"extern \"C\" __global__ void kernel{self.nr}(uint32_t *out, int below)\n{{\n\t__shared__ uint32_t shared[{block}];")
        out.append(f"\tuint32_t t = threadIdx.x, at = blockIdx.x * {block}u + t;\n\tVars v;\n\n\tstart(v, at);")
        for p in range(phases):
            out.append(f"\tphase{self.nr}_{p}(v);\n\tshared[t] = digest(v);\n\t__syncthreads();")
            out.append(f"\tv.u[{p % 4}] ^= shared[(t + {stride}u) % {block}u];")
            out.append(f"\tv.u[{(p + 1) % 4}] += {halo('(int)t')};\n\t__syncthreads();")
        out.append("\tout[at + 8] = digest(v);\n\tatomicAdd(&out[digest(v) & 3u], digest(v));")
        out.append("\tatomicMax(&out[4 + (digest(v) & 1u)], digest(v));\n\tatomicXor(&out[6], digest(v));\n}\n")
        out.append(f"#ifndef __HIPCC_RTC__\nstatic void host{self.nr}(uint32_t *out, int groups, int block)\n{{")
        out.append(f"\tconst int below = {below};\n\tstd::vector<Vars> v(block);\n\tstd::vector<uint32_t> shared(block);\n")
        out.append("\tfor (int g = 0; g < groups; g++) {\n\t\tfor (int t = 0; t < block; t++)")
        out.append("\t\t\tstart(v[t], (uint32_t)(g * block + t));")
        for p in range(phases):
            out.append(f"\t\tfor (int t = 0; t < block; t++) {{\n\t\t\tphase{self.nr}_{p}(v[t]);")
            out.append("\t\t\tshared[t] = digest(v[t]);\n\t\t}\n\t\tfor (int t = 0; t < block; t++)")
            out.append(f"\t\t{{\n\t\t\tv[t].u[{p % 4}] ^= shared[(t + {stride}) % block];")
            out.append(f"\t\t\tv[t].u[{(p + 1) % 4}] += {halo('t')};\n\t\t}}")
        out.append("\t\tfor (int t = 0; t < block; t++) {\n\t\t\tuint32_t r = digest(v[t]);\n")
        out.append("\t\t\tout[g * block + t + 8] = r;\n\t\t\tout[r & 3] += r;")
        out.append("\t\t\tout[4 + (r & 1)] = r > out[4 + (r & 1)] ? r : out[4 + (r & 1)];\n\t\t\tout[6] ^= r;")
        out.append("\t\t}\n\t}\n}\n")
        out.append(f"static void launch{self.nr}(uint32_t *out, int groups, int block)\n{{")
        out.append(f"\tif (module)\n\t\tlaunch(\"kernel{self.nr}\", out, {below}, groups, block);\n\telse")
        out.append(f"\t\tkernel{self.nr}<<<groups, block>>>(out, {below});\n}}\n#endif\n")
        self.entry = f"\t{{ launch{self.nr}, host{self.nr}, {groups}, {block} }},"
        return "\n".join(out)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kernels", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    with open(args.out, "w", encoding="utf-8") as out:
        write(args, out)


def write(args, out):
    print(HEAD, file=out)
    kernels = [Kernel(random.Random(f"{args.seed} {n}"), n) for n in range(args.kernels)]
    for k in kernels:
        print(k.source(), file=out)
    print("#ifndef __HIPCC_RTC__\nstruct Entry {\n\tvoid (*launch)(uint32_t *, int, int);\n\tvoid (*host)(uint32_t *, int, int);", file=out)
    print("\tint groups, block;\n};\n\nstatic const Entry kernels[] = {", file=out)
    print("\n".join(k.entry for k in kernels), file=out)
    print("};", file=out)
    print(TAIL + "#endif", file=out)


if __name__ == "__main__":
    main()
