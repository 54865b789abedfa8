/* SPDX-License-Identifier: MIT */
/* callout.c - calls a function of the program while something is held
 *
 * A personality routine does the work of what C++ has destructors for: -fexceptions would do it
 * too, and make each library need libgcc_s. That routine needs nothing of the unwinder, so that it
 * is right with any.
 *
 * Owns:     each thread's list of the calls that run, in their stack frames.
 * Threads:  any.
 */
#include "base/callout.h"

#include <pthread.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <unwind.h>

#include "base/compiler.h"
#include "base/sys.h"

struct running {
	struct running *outer;
	callout_fn left; /* NULL: it was called */
	void *arg;
	uint32_t cancel_depth; /* outside of the outer one, if there is one */
	struct _pthread_cleanup_buffer buffer;
};

static _Thread_local struct running *innermost;

/* glibc's clean-ups of before NPTL, which it keeps for programs of that time. Of its two lists this
 * is the one that longjmp() walks; the header has the structure alone. */
void _pthread_cleanup_push(struct _pthread_cleanup_buffer *b, void (*fn)(void *), void *arg);
void _pthread_cleanup_pop(struct _pthread_cleanup_buffer *b, int execute);

static void on_left(void *arg)
{
	struct running *r = arg;
	callout_fn left = r->left;

	if (!left)
		return;
	r->left = NULL;
	innermost = r->outer;
	sys_cancel_inside(r->cancel_depth);
	left(r->arg);
	sys_cancel_back_to(r->cancel_depth);
}

#if defined(__x86_64__)

RTL_HIDDEN void callout_call(callout_fn fn, void *arg);
RTL_HIDDEN _Unwind_Reason_Code callout_personality(int version, _Unwind_Action actions,
						   _Unwind_Exception_Class class,
						   struct _Unwind_Exception *exception,
						   struct _Unwind_Context *context);

/* Of callout_call()'s frame. Frames are left from the innermost on, so it is the innermost
 * call's. */
_Unwind_Reason_Code callout_personality(int version, _Unwind_Action actions,
					_Unwind_Exception_Class class,
					struct _Unwind_Exception *exception,
					struct _Unwind_Context *context)
{
	struct running *r = innermost;

	(void)version;
	(void)class;
	(void)exception;
	(void)context;
	if (r && actions & _UA_CLEANUP_PHASE) {
		_pthread_cleanup_pop(&r->buffer, 0);
		on_left(r);
	}
	return _URC_CONTINUE_UNWIND;
}

/* fn(arg) in a frame with that routine: 0x1b, its address relative to itself. */
__asm__(".pushsection .text\n"
	".p2align 4\n"
	".globl callout_call\n"
	".hidden callout_call\n"
	".type callout_call, @function\n"
	"callout_call:\n"
	".cfi_startproc\n"
	".cfi_personality 0x1b, callout_personality\n"
	"	subq $8, %rsp\n"
	".cfi_adjust_cfa_offset 8\n"
	"	movq %rdi, %rax\n"
	"	movq %rsi, %rdi\n"
	"	call *%rax\n"
	"	addq $8, %rsp\n"
	".cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	".cfi_endproc\n"
	".size callout_call, . - callout_call\n"
	".popsection\n");

#else

static void callout_call(callout_fn fn, void *arg)
{
	fn(arg);
}

#endif

void callout(callout_fn fn, callout_fn left, void *arg)
{
	struct running r = { .outer = innermost, .left = left, .arg = arg };

	r.cancel_depth = sys_cancel_outside();
	innermost = &r;
	_pthread_cleanup_push(&r.buffer, on_left, &r);
	callout_call(fn, arg);
	_pthread_cleanup_pop(&r.buffer, 0);
	innermost = r.outer;
	sys_cancel_inside(r.cancel_depth);
}

struct outlived {
	callout_fn fn;
	void *arg;
	jmp_buf end;
};

static void run_outlived(void *arg)
{
	struct outlived *o = arg;

	o->fn(o->arg);
}

/* glibc has nothing to give back for a thread that has begun to end but what it has on its
 * stack. */
static void go_on(void *arg)
{
	struct outlived *o = arg;

	longjmp(o->end, 1);
}

bool callout_outlive(callout_fn fn, void *arg)
{
	struct outlived o = { .fn = fn, .arg = arg };
	uint32_t deep = sys_cancel_deep();

	if (setjmp(o.end) == 0) {
		callout(run_outlived, go_on, &o);
		return true;
	}
	sys_cancel_back_to(deep);
	return false;
}
