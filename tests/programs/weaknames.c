/* SPDX-License-Identifier: MIT */
/* weaknames.c - asks by weak references which functions of HIP, RCCL and HSA there are: by their
 * addresses in data and by those in code
 *
 * A library, whose constructor asks as well, and with MAIN a program:
 *	weaknames linked		prints what the program and the library that it is linked
 *					with see
 *	weaknames LIBRARY FLAGS STRONG	the same; then loads HIP (FLAGS: local or global) and
 *					LIBRARY, made of this file as well, and prints what that one
 *					sees; loads STRONG, which needs a function that HIP may lack
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define NAME(n) extern int n(void) __attribute__((weak));
#include "weaknames.inc"
#undef NAME

struct name {
	const char *name;
	int (*fn)(void);
};

static const struct name names[] = {
#define NAME(n) { #n, n },
#include "weaknames.inc"
#undef NAME
};

static int count_in_code(void)
{
	int nr = 0;

#define NAME(n) nr += n != 0;
#include "weaknames.inc"
#undef NAME
	return nr;
}

static int count_in_data(void)
{
	const volatile struct name *n = names;
	int nr = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		nr += n[i].fn != NULL;
	return nr;
}

static void print_names(const char *who)
{
	const volatile struct name *n = names;

	printf("%s: %d in code, %d in data\n", who, count_in_code(), count_in_data());
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		printf("%s %s\n", n[i].name, n[i].fn ? "there" : "NULL");
}

#ifdef MAIN
void weaknames_print(const char *who);

int main(int argc, char **argv)
{
	void (*print)(const char *who);
	void *lib;

	print_names("program");
	weaknames_print("library");
	if (argc < 4)
		return 0;
	lib = dlopen("libamdhip64.so.5",
		     RTLD_NOW | (strcmp(argv[2], "local") ? RTLD_GLOBAL : RTLD_LOCAL));
	printf("HIP: %s\n", lib ? "there" : dlerror());
	lib = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	print = lib ? (void (*)(const char *))dlsym(lib, "weaknames_print") : NULL;
	if (print)
		print("loaded");
	lib = dlopen(argv[3], RTLD_NOW | RTLD_LOCAL);
	printf("strong: %s\n", lib ? "there" : dlerror());
	return 3;
}
#else
static int in_code, in_data;

__attribute__((constructor)) static void construct(void)
{
	in_code = count_in_code();
	in_data = count_in_data();
}

void weaknames_print(const char *who)
{
	printf("constructor of %s: %d in code, %d in data\n", who, in_code, in_data);
	print_names(who);
}
#endif
