/* SPDX-License-Identifier: MIT */
/* frame.h - what the generated HIP wrappers call
 *
 *	EXPORT int hipMemset(void *dst, int value, size_t sizeBytes)
 *	{
 *		return hip_entries[HIP_OP_hipMemset](dst, value, sizeBytes);
 *	}
 *
 * which is one jump, to where the function's calls go now. At first that is
 *
 *	static int any_hipMemset(void *dst, int value, size_t sizeBytes)
 *	{
 *		int (*real)(void *, int, size_t) = hip_real(HIP_OP_hipMemset);
 *		uint32_t wanted_by = api_wanted(API_HIP, HIP_OP_hipMemset);
 *		struct api_call call;
 *		int ret;
 *
 *		if (!real)
 *			return HIP_NOT_LOADED;
 *		if (wanted_by & API_SUBSCRIBERS)
 *			return seen_hipMemset(dst, value, sizeBytes, RTL_FRAME());
 *		if (!hip_enter(wanted_by, HIP_OP_hipMemset, &call)) {
 *			ret = real(dst, value, sizeBytes);
 *			api_pass();
 *			hip_passed(HIP_OP_hipMemset, NULL, left_hipMemset);
 *			return ret;
 *		}
 *		ret = real(dst, value, sizeBytes);
 *		... fills words, if api_args ...
 *		hip_leave(HIP_OP_hipMemset, &call, ret, words, nr);
 *		return ret;
 *	}
 *
 * seen_hipMemset() is the same for calls that subscribers see (source/api/live.h): around the real
 * function it calls hip_begin_seen() and live_wrapper_end().
 *
 * The wrappers are librtl's symbols, which stand in front of the runtime's, and functions in the
 * dispatch tables that HIP 6 and later hand over (dispatch_table.h): a call comes to one of them.
 *
 * All of it on any thread at any time: before librtl's constructor, after the end of the trace.
 */
#ifndef RTL_SOURCE_HIP_FRAME_H
#define RTL_SOURCE_HIP_FRAME_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "event/filter.h"
#include "event/left_out.h"
#include "source/api/call.h"
#include "source/api/live.h"
#include "source/api/quick.h"
#include "source/hip/release.h"

/* hipErrorSharedObjectInitFailed: the symbol was ours, and there is no libamdhip64 behind it. */
#define HIP_NOT_LOADED 303

/* Emitted with the wrappers, by op: name and signature, symbol (NULL: only callbacks show the
 * call), whether the name has been recorded, the runtime's function (NULL until looked up). */
extern const uint32_t hip_nr_ops;
extern const struct api_op hip_ops[];
extern const char *const hip_symbols[];
extern _Atomic uint8_t hip_named[];
extern RTL_HIDDEN _Atomic(void *) hip_real_fns[];
/* Where the symbol of a function jumps to: the ordinary wrapper any_NAME(), which alone decides;
 * quick_NAME(), which records the usual call (source/api/quick.h); left_NAME(), which counts a call
 * that the user leaves out; or the runtime's function, where nothing wants its calls. NULL in both:
 * the symbol is the ordinary wrapper, since there is more to do in each call. */
extern RTL_HIDDEN _Atomic(void *) hip_entries[];
extern RTL_HIDDEN void *const hip_ordinary[];
/* One plain load, in functions that are RTL_NO_TSAN: gcc makes no jump of an atomic one. What was
 * stored before an entry is code and constants, or read again. */
#define HIP_ENTRY(op) (*(void *const *)(const void *)&hip_entries[op])
#define HIP_REAL(op) (*(void *const *)(const void *)&hip_real_fns[op])

/* Defined by the library that holds this source, may be NULL: does what its constructor does, where
 * a HIP call comes before that. May be called any number of times. */
extern void (*const hip_boot)(void);

/* Set by that library: the function of another copy of it that traces this forked child, or NULL.
 * NULL: there are no copies. */
extern void *(*hip_forked_find)(const char *name);
/* Whether a dispatch table has wrappers (dispatch_table.h): the symbols of the runtime lead to
 * them. */
extern _Atomic bool hip_tables_taken;
/* Whether a dispatch table, of HIP or of a library over it, gets wrappers in this process. Does
 * what the library's constructor does. */
bool hip_wants_tables(void);

/* Looks the function up: RTLD_NEXT, then the libamdhip64 that is loaded with local scope. NULL: not
 * found; looked up again after another library has been loaded. Preserves errno. */
void *hip_resolve(uint32_t op);
/* The same for what the compiler's code calls before main(): the runtime is not kept loaded by
 * this, nor asked for its release. That is left to the first call of HIP. */
void *hip_resolve_early(uint32_t op);
/* The same for any function of HIP, whether it has a wrapper or not; the result is not kept. */
void *hip_find(const char *name);
/* Keeps the runtime of this function loaded, and finds out its release. Once for each library. */
void hip_pin(const void *fn);
/* The same for the runtime that has this dispatch table, while its functions can't be called;
 * `api_name`: the table's entry for hipApiName(). */
void hip_pin_table(const void *table, void *api_name);
/* Whether this is one of librtl's functions. */
bool hip_is_ours(const void *fn);
/* Whether a libamdhip64 is in the process. */
bool hip_is_loaded(void);

/* Decides whether calls are recorded, as the first call of HIP does; again after what it depends on
 * has changed. Any thread. */
void hip_decide(void);

/* HOT: the runtime's function. */
static inline void *hip_real(uint32_t op)
{
	/* acquire: pairs with the release in hip_resolve() */
	void *fn = atomic_load_explicit(&hip_real_fns[op], memory_order_acquire);

	return RTL_LIKELY(fn != NULL) ? fn : hip_resolve(op);
}

/* The same for what the compiler's code calls before main(). */
static inline void *hip_real_early(uint32_t op)
{
	/* acquire: as in hip_real() */
	void *fn = atomic_load_explicit(&hip_real_fns[op], memory_order_acquire);

	return RTL_LIKELY(fn != NULL) ? fn : hip_resolve_early(op);
}

/* HOT: the same for a quick wrapper, which is not taken before it is known. */
static RTL_INLINE void *hip_known(uint32_t op)
{
	/* acquire: pairs with the release in hip_resolve() */
	return atomic_load_explicit(&hip_real_fns[op], memory_order_acquire);
}

/* Later calls of the function go to `way`, unless the bits `mask_of` of its mask are no longer
 * `mask`, or the runtime's function no longer `real`. Any thread. */
void hip_take_way(uint32_t op, void *way, void *real, uint32_t mask, uint32_t mask_of);

/* A call was recorded: later calls may be recorded by the quick wrapper, unless a subscriber wants
 * them. */
static inline void hip_quicken(uint32_t op, void *quick)
{
	if (RTL_UNLIKELY(atomic_load_explicit(&hip_entries[op], memory_order_relaxed) != quick) &&
	    api_is_named(API_HIP, op))
		hip_take_way(op, quick, hip_real(op), 0, API_SUBSCRIBERS);
}

/* A call was passed on to the runtime: while no sink and no subscriber wants the function, later
 * calls go to `straight`, or if NULL directly to the runtime's function; if the user leaves it out,
 * to `left`, unless that is NULL. Any thread. */
void hip_passed(uint32_t op, void *straight, void *left);

/* left_NAME: the way of a call that the user leaves out, in assembler: the arguments stay where
 * they are, in registers and on the stack, whatever the function's prototype. `ordinary`: of
 * hip_ordinary. Elsewhere such a call takes the ordinary way. HIP_LEFT_LAUNCH: of a launch: what
 * thread_take_configured() would return is not for the next one. HIP_LEFT_OWN: of a function that
 * the runtime calls by its symbol: such a call is not the program's, and not counted. */
#if defined(__x86_64__)
#define HIP_LEFT_AS(name, ordinary, before, after, count)                                          \
	static __attribute__((naked, used)) void left_##name(void)                                 \
	{                                                                                          \
		__asm__(before "movq thread_self@GOTTPOFF(%%rip), %%r11\n\t" after                 \
			       "movq %%fs:%c1(%%r11), %%r11\n\t" count ", (%%r11)\n\t"             \
			       "js " #ordinary "\n\t"                                              \
			       "jmp *hip_real_fns+%c0(%%rip)"                                      \
			:                                                                          \
			: "i"(HIP_OP_##name * sizeof(void *)),                                     \
			  "i"(offsetof(struct thread, left_out)),                                  \
			  "i"(offsetof(struct thread, configured)));                               \
	}
#define HIP_LEFT(name, ordinary) HIP_LEFT_AS(name, ordinary, "", "", "addq $1")
#define HIP_LEFT_LAUNCH(name, ordinary)                                                            \
	HIP_LEFT_AS(name, ordinary, "", "movl $0, %%fs:%c2(%%r11)\n\t", "addq $1")
/* The comparison sets the carry if the address to which the call returns is in the runtime; loads
 * leave it, and the last instruction adds 1 without it and 0 with it. A range in memory takes three
 * instructions, since only a register can be compared with both of its ends. */
#define HIP_LEFT_OWN(name, ordinary)                                                               \
	HIP_LEFT_AS(name, ordinary,                                                                \
		    "movq (%%rsp), %%r11\n\t"                                                      \
		    "subq hip_code_begin(%%rip), %%r11\n\t"                                        \
		    "cmpq hip_code_size(%%rip), %%r11\n\t",                                        \
		    "", "sbbq $-1")
#else
#define HIP_LEFT(name, ordinary) static void (*const left_##name)(void) = NULL;
#define HIP_LEFT_LAUNCH HIP_LEFT
#define HIP_LEFT_OWN HIP_LEFT
#endif

/* Where the runtime's code is; size 0: not known yet. */
extern RTL_HIDDEN _Atomic uintptr_t hip_code_begin, hip_code_size;
/* HOT: whether a wrapper that returns to `to` was called by the runtime itself. Asked where calls
 * are left out, which are passed on without a mark, about the functions that the runtime calls by
 * their symbols (`own` in codegen/models/hip_roles.json). */
static inline bool hip_calls_itself(const void *to)
{
	return (uintptr_t)to - atomic_load_explicit(&hip_code_begin, memory_order_relaxed) <
	       atomic_load_explicit(&hip_code_size, memory_order_relaxed);
}

/* Whether the first HIP call has decided if HIP calls are recorded. */
extern _Atomic bool hip_started;
/* The first HIP call: starts the trace if HIP calls are to be recorded. */
bool hip_enter_first(uint32_t op, struct api_call *c, uintptr_t frame);

/* HOT: false: the call is not recorded. `wanted_by`: of api_wanted(); `frame`: the address of the
 * wrapper's frame. */
static inline bool hip_enter_at(uint32_t wanted_by, uint32_t op, struct api_call *c,
				uintptr_t frame)
{
	if (RTL_UNLIKELY(wanted_by & API_LEFT_OUT))
		api_leave_out(API_HIP, frame);
	if (RTL_LIKELY(!(wanted_by & API_RECORDED)))
		return false;
	/* relaxed: set once; a thread that misses it decides again, the same */
	if (RTL_UNLIKELY(!atomic_load_explicit(&hip_started, memory_order_relaxed)))
		return hip_enter_first(op, c, frame);
	return api_enter_slow(API_HIP, c, frame);
}

static RTL_INLINE bool hip_enter(uint32_t wanted_by, uint32_t op, struct api_call *c)
{
	return hip_enter_at(wanted_by, op, c, RTL_FRAME());
}

/* The call begins for subscribers and recorder. NULL: another provider shows it, or there is no
 * memory; live_wrapper_end() must not be called. `frame` as above. */
struct live_frame *hip_begin_seen(uint32_t op, void *args, uintptr_t frame);

/* Around the runtime's function by which compiled code registers itself, before main() or when its
 * library is loaded. It is no call of the program; what the runtime submits meanwhile (HIP 5: the
 * first value of a managed variable) is the runtime's own, and no call was missed. `frame`: of the
 * function that calls both. */
void hip_own_begin(uintptr_t frame);
static inline void hip_own_end(uintptr_t frame)
{
	api_pass_at(frame);
}

static inline void hip_leave(uint32_t op, struct api_call *c, int32_t status, const uint64_t *words,
			     uint32_t nr_words)
{
	api_leave(API_HIP, op, c, status, words, nr_words);
}

/* Words of arguments. Between hip_enter() and hip_leave(). All preserve errno. */

/* A string id; 0 for NULL and for an address that can't be read. Text beyond HIP_TEXT_MAX bytes is
 * cut off. */
uint64_t hip_word_text(const char *text);
#define HIP_TEXT_MAX 4096u
/* The kernel's mangled name as a string id, 0 when it is not known: by the host function's address,
 * or by hipFunction_t. Asks the runtime once for each. `ok` false (the call failed, the pointer may
 * be invalid): uses known names alone. */
void hip_find_name_slow(const void *function, bool ok);
uint64_t hip_word_function(const void *handle, bool ok);
/* How often hip_forget_names() was called. */
extern RTL_HIDDEN _Atomic uint32_t hip_names_generation;
/* HOT */
static RTL_INLINE uint64_t hip_word_host_function(const void *function, bool ok)
{
	const struct thread *t = &thread_self;

	/* usually a thread launches the same kernel again */
	if (RTL_UNLIKELY(t->name_key != function ||
			 t->name_generation !=
				 atomic_load_explicit(&hip_names_generation, memory_order_relaxed)))
		hip_find_name_slow(function, ok);
	return t->name_id;
}
/* The sum of the sizes of several copies in one call. */
static inline uint64_t hip_word_sum(const size_t *sizes, size_t nr)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += sizes[i];
	return sum;
}
/* The agents of the memory at these addresses, as role "agents" of spool/format.h says; 0: not
 * known. NULL for `dst` or `src`: there is none. */
uint64_t hip_word_agents(const void *dst, const void *src);
/* Set by the library that holds this source: who knows. NULL: not known. */
extern uint64_t (*hip_agents_of)(const void *dst, const void *src);
/* A module or a fat binary was unloaded: its addresses and handles may become another kernel's. */
void hip_forget_names(void);

#endif
