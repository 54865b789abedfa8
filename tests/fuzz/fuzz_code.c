/* SPDX-License-Identifier: MIT */
/* fuzz_code.c - any words as a kernel: the virtual GPU's decoder and interpreter
 *
 * libFuzzer (clang -fsanitize=fuzzer) calls LLVMFuzzerTestOneInput(). The kernel and the memory
 * that it may touch are the same pages, with nothing mapped on either side. Other effects are
 * bounded (tests/vgpu/inst_lib.c).
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MEMORY 0x10000000u /* low: short to encode */
#define MEMORY_SIZE 16384u
#define HEADER_SIZE 64u
#define STEPS 1000

/* tests/vgpu/inst_lib.c */
int inst_fuzz(const unsigned char *code, size_t size, uint64_t steps, uint64_t memory,
	      uint64_t memory_size);

/* the encodings: the fixed bits in the first word of each */
static const struct {
	uint32_t top, mask;
} encodings[] = {
	{ 0x80000000, 0x3fffffff }, /* SOP2 */
	{ 0xb0000000, 0x0fffffff }, /* SOPK */
	{ 0xbe800000, 0x007fffff }, /* SOP1 */
	{ 0xbf000000, 0x007fffff }, /* SOPC */
	{ 0xbf800000, 0x000fffff }, /* SOPP, but for the odd ones */
	{ 0xc0000000, 0x03ffffff }, /* SMEM */
	{ 0x00000000, 0x7fffffff }, /* VOP2 */
	{ 0x7c000000, 0x01ffffff }, /* VOPC */
	{ 0x7e000000, 0x01ffffff }, /* VOP1 */
	{ 0xd0000000, 0x03ffffff }, /* VOP3, VOP3P */
	{ 0xd8000000, 0x03fcffff }, /* DS, but for GDS */
	{ 0xdc000000, 0x03ffdfff }, /* FLAT, GLOBAL, SCRATCH */
	{ 0xe0000000, 0x03feffff }, /* MUBUF */
};

/* Changes a word so that it begins an instruction. */
static uint32_t mend(uint32_t word)
{
	size_t n = (word >> 26) % (sizeof(encodings) / sizeof(encodings[0]));

	return encodings[n].top | (word & encodings[n].mask);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first byte's bit 0: the caches are modelled, bit 1: each other word is made valid, bit 2:
 * each is. Then the number of registers and their initial values, then code. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static unsigned char object[MEMORY_SIZE];
	void *memory = (void *)(uintptr_t)MEMORY;
	static void *mapped;

	if (!mapped) {
		mapped = mmap(memory, MEMORY_SIZE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		if (mapped != memory) {
			perror("mmap");
			exit(1);
		}
	}
	if (size < 8 || size - 4 > MEMORY_SIZE - HEADER_SIZE)
		return 0;
	size = (size - 4) & ~(size_t)3;
	memset(memory, 0, MEMORY_SIZE);
	memcpy(object + HEADER_SIZE, data + 4, size);
	object[0] = data[0]; /* inst_fuzz() reads it, too */
	object[16] = HEADER_SIZE;
	object[48] = data[1];
	object[52] = data[2];
	object[56] = data[3];
	for (size_t at = 0; at < size && data[0] & 6; at += data[0] & 4 ? 4 : 8) {
		uint32_t word;

		memcpy(&word, object + HEADER_SIZE + at, sizeof(word));
		word = mend(word);
		memcpy(object + HEADER_SIZE + at, &word, sizeof(word));
	}
	inst_fuzz(object, HEADER_SIZE + size, STEPS, MEMORY, MEMORY_SIZE);
	return 0;
}
