/* SPDX-License-Identifier: MIT */
/* effects_main.c - a program whose HIP is in a library that it is linked with: its code is
 * registered before the program's own constructors, and HIP ends when libraries do */
int effects_main(int argc, char **argv);

int main(int argc, char **argv)
{
	return effects_main(argc, argv);
}
