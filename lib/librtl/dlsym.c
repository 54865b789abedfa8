/* SPDX-License-Identifier: MIT */
/* dlsym.c - dlsym() in front of the C library's, for programs that take HIP's functions with it
 *
 * What RTLD_NEXT and RTLD_DEFAULT mean depends on who calls, which the C library tells by the return
 * address: those are jumped on to it with the stack as it was. But not for functions of HIP's that only
 * librtl has, for the sake of other releases: the program must find that its runtime lacks them. Handles of dlopen() mean the same to
 * everyone and go through lookup().
 *
 * Only x86-64, as ROCm's runtimes; elsewhere there is no such symbol.
 */
#include "source/hip/lookup.h"

#if defined(__x86_64__)
/* keeps both reachable from the text below */
__attribute__((used)) static void (*const keep_find)(void) = lookup_find;
__attribute__((used)) static void *(*const keep_lookup)(void *, const char *) = lookup;
__attribute__((used)) static bool (*const keep_lacks)(void *, const char *) = lookup_lacks;
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
	"	jmp lookup\n"
	"2:	testq %rsi, %rsi\n"
	"	jz 5f\n"
	"	cmpb $104, (%rsi)\n" /* only names that begin as HIP's: h, _ */
	"	je 4f\n"
	"	cmpb $95, (%rsi)\n"
	"	je 4f\n"
	"5:	jmp *lookup_next(%rip)\n"
	"4:	pushq %rdi\n"
	"	pushq %rsi\n"
	"	subq $8, %rsp\n"
	"	call lookup_lacks\n"
	"	addq $8, %rsp\n"
	"	popq %rsi\n"
	"	popq %rdi\n"
	"	testb %al, %al\n"
	"	jz 5b\n"
	"	jmp lookup_absent\n"
	"3:	pushq %rdi\n"
	"	pushq %rsi\n"
	"	subq $8, %rsp\n"
	"	call lookup_find\n"
	"	addq $8, %rsp\n"
	"	popq %rsi\n"
	"	popq %rdi\n"
	"	cmpq $0, lookup_next(%rip)\n"
	"	jne 1b\n"
	"	xorl %eax, %eax\n" /* no C library that we know: nothing is found */
	"	ret\n"
	".size dlsym, .-dlsym\n"
	".popsection\n");
#endif
