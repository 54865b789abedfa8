/* SPDX-License-Identifier: MIT */
/* dlsym.c - dlsym() in front of the C library's, for programs that look HIP's functions up
 *
 * The meaning of RTLD_NEXT and RTLD_DEFAULT depends on the caller, whom the C library finds by the
 * return address. Such calls jump to the C library's function with the stack unchanged. Exception:
 * functions of HIP that librtl has only for other releases; the program must find that its runtime
 * lacks them. Handles of dlopen() do not depend on the caller and go through early_lookup().
 *
 * Only x86-64, as ROCm's runtimes; elsewhere there is no such symbol.
 */
#include "source/hip/early.h"
#include "source/hip/lookup.h"

#if defined(__x86_64__)
/* keep them reachable from the assembler text below */
__attribute__((used)) static void (*const keep_find)(void) = early_find;
__attribute__((used)) static void *(*const keep_lookup)(void *, const char *) = early_lookup;
__attribute__((used)) static bool (*const keep_lacks)(void *, const char *) = early_lacks;
__attribute__((used)) static void *(*const keep_absent)(void *, const char *) = lookup_absent;

/* rdi: handle, rsi: name */
__asm__(".pushsection .text\n"
	".globl dlsym\n"
	".type dlsym, @function\n"
	"dlsym:\n"
	"	endbr64\n"
	"	cmpq $0, lookup_next(%rip)\n"
	"	je 3f\n"
	"1:	leaq 1(%rdi), %rax\n"
	"	cmpq $1, %rax\n" /* RTLD_NEXT is -1, RTLD_DEFAULT 0 */
	"	jbe 2f\n"
	"	jmp early_lookup\n"
	"2:	testq %rsi, %rsi\n"
	"	jz 5f\n"
	"	cmpb $104, (%rsi)\n" /* only names that begin like HIP's: h, _ */
	"	je 4f\n"
	"	cmpb $95, (%rsi)\n"
	"	je 4f\n"
	"	cmpb $110, (%rsi)\n" /* RCCL's: n, m */
	"	je 4f\n"
	"	cmpb $109, (%rsi)\n"
	"	je 4f\n"
	"5:	jmp *lookup_next(%rip)\n"
	"4:	pushq %rdi\n"
	"	pushq %rsi\n"
	"	subq $8, %rsp\n"
	"	call early_lacks\n"
	"	addq $8, %rsp\n"
	"	popq %rsi\n"
	"	popq %rdi\n"
	"	testb %al, %al\n"
	"	jz 5b\n"
	"	jmp lookup_absent\n"
	"3:	pushq %rdi\n"
	"	pushq %rsi\n"
	"	subq $8, %rsp\n"
	"	call early_find\n"
	"	addq $8, %rsp\n"
	"	popq %rsi\n"
	"	popq %rdi\n"
	"	cmpq $0, lookup_next(%rip)\n"
	"	jne 1b\n"
	"	xorl %eax, %eax\n" /* an unknown C library: nothing is found */
	"	ret\n"
	".size dlsym, .-dlsym\n"
	".popsection\n");
#endif
