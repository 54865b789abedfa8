/* SPDX-License-Identifier: MIT */
/* program.c - what the file of a program says
 *
 * Fails:    a file that can't be read, or has no form that is known here, is one of which nothing
 *           is known.
 */
#include "cli/trace/program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_NEEDED 1024 /* entries of a dynamic section */

enum form { UNKNOWN, EMPTY, ELF_64, ELF_32, ELF_OTHER, SCRIPT };

struct file {
	char path[PATH_MAX];
	int fd;
	struct stat st;
	enum form form;
	char interpreter[PATH_MAX]; /* of a script; the loader of a program; "": none */
	char wanted
		/* the command that a script's first line has env(1) look for; "": none */
		[PATH_MAX];
	bool has_return; /* a script's first line ends in a carriage return */
};

/* The file that execvp() would execute. */
static bool find_command(const char *command, char path[PATH_MAX])
{
	const char *list = getenv("PATH");

	if (strchr(command, '/'))
		return snprintf(path, PATH_MAX, "%s", command) < PATH_MAX;
	for (const char *p = list ? list : "/bin:/usr/bin"; *p; p += *p == ':') {
		size_t n = strcspn(p, ":");

		if (snprintf(path, PATH_MAX, "%.*s/%s", n ? (int)n : 1, n ? p : ".", command) <
			    PATH_MAX &&
		    access(path, X_OK) == 0)
			return true;
		p += n;
	}
	return false;
}

/* `rest`: what follows env(1) in a script's first line: one argument for the kernel, which env
 * splits after -S alone. */
static void read_wanted(struct file *f, const char *rest)
{
	const char *s = rest[0] == '-' ? memchr(rest, 'S', strcspn(rest, " \t\n")) : NULL;
	size_t n = strcspn(rest, "\n");

	while (n && strchr(" \t", rest[n - 1]))
		n--;
	/* options and variables are in front of the command */
	for (rest = s ? s + 1 : rest, n = s ? 0 : n; s && *rest && *rest != '\n'; rest += n) {
		rest += strspn(rest, " \t");
		n = strcspn(rest, " \t\n");
		if (rest[0] != '-' && !memchr(rest, '=', n))
			break;
	}
	if (n < sizeof(f->wanted) && rest[0] != '-' && !memchr(rest, '=', n))
		memcpy(f->wanted, rest, n);
}

static void read_script(struct file *f, const char *line)
{
	const char *base;
	size_t n;

	f->form = SCRIPT;
	line += 2;
	line += strspn(line, " \t");
	n = strcspn(line, " \t\n");
	f->has_return = n && line[n - 1] == '\r';
	if (n < sizeof(f->interpreter))
		memcpy(f->interpreter, line, n);
	base = strrchr(f->interpreter, '/');
	if (base && strcmp(base, "/env") == 0)
		read_wanted(f, line + n + strspn(line + n, " \t"));
}

static bool read_at(int fd, void *buf, size_t size, uint64_t offset)
{
	return offset <= INT64_MAX && pread(fd, buf, size, (off_t)offset) == (ssize_t)size;
}

static void read_loader(struct file *f, uint64_t offset, uint64_t size)
{
	if (size < sizeof(f->interpreter) && !read_at(f->fd, f->interpreter, size, offset))
		f->interpreter[0] = 0;
	f->interpreter[size < sizeof(f->interpreter) ? size : 0] = 0;
}

static void read_elf64(struct file *f)
{
	Elf64_Ehdr head;
	Elf64_Phdr part;

	f->form = read_at(f->fd, &head, sizeof(head), 0) && head.e_machine == EM_X86_64 ? ELF_64 :
											  ELF_OTHER;
	for (unsigned int i = 0; f->form == ELF_64 && i < head.e_phnum; i++)
		if (read_at(f->fd, &part, sizeof(part),
			    head.e_phoff + (uint64_t)i * sizeof(part)) &&
		    part.p_type == PT_INTERP)
			read_loader(f, part.p_offset, part.p_filesz);
}

static void read_elf32(struct file *f)
{
	Elf32_Ehdr head;
	Elf32_Phdr part;

	f->form = read_at(f->fd, &head, sizeof(head), 0) && head.e_machine == EM_386 ? ELF_32 :
										       ELF_OTHER;
	for (unsigned int i = 0; f->form == ELF_32 && i < head.e_phnum; i++)
		if (read_at(f->fd, &part, sizeof(part),
			    head.e_phoff + (uint64_t)i * sizeof(part)) &&
		    part.p_type == PT_INTERP)
			read_loader(f, part.p_offset, part.p_filesz);
}

static bool open_file(struct file *f, const char *command)
{
	char head[PATH_MAX] = "";
	ssize_t n;

	memset(f, 0, sizeof(*f));
	f->fd = -1;
	if (!find_command(command, f->path) || stat(f->path, &f->st))
		return false;
	if (!S_ISREG(f->st.st_mode))
		return true;
	f->fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	n = f->fd < 0 ? -1 : pread(f->fd, head, sizeof(head) - 1, 0);
	if (n == 0)
		f->form = EMPTY;
	else if (n > 2 && head[0] == '#' && head[1] == '!')
		read_script(f, head);
	else if (n > EI_CLASS && memcmp(head, ELFMAG, SELFMAG) == 0 && head[EI_CLASS] == ELFCLASS64)
		read_elf64(f);
	else if (n > EI_CLASS && memcmp(head, ELFMAG, SELFMAG) == 0)
		read_elf32(f);
	return true;
}

static void close_file(struct file *f)
{
	if (f->fd >= 0)
		close(f->fd);
}

/* The offset in the file of an address of the program; 0: it has none. */
static uint64_t offset_of(int fd, const Elf64_Ehdr *head, uint64_t address)
{
	Elf64_Phdr part;

	for (unsigned int i = 0; i < head->e_phnum; i++)
		if (read_at(fd, &part, sizeof(part), head->e_phoff + (uint64_t)i * sizeof(part)) &&
		    part.p_type == PT_LOAD && address >= part.p_vaddr &&
		    address - part.p_vaddr < part.p_filesz)
			return address - part.p_vaddr + part.p_offset;
	return 0;
}

static bool is_runtime(const char *name)
{
	return strncmp(name, "libamdhip64.so", 14) == 0 ||
	       strncmp(name, "libhsa-runtime64.so", 19) == 0 ||
	       strncmp(name, "libOpenCL.so", 12) == 0;
}

/* The names of the libraries that it is linked with. */
static void find_runtime(const struct file *f, char out[256])
{
	Elf64_Dyn entries[MAX_NEEDED];
	uint64_t texts = 0;
	Elf64_Ehdr head;
	Elf64_Phdr part;
	ssize_t n = 0;

	if (f->form != ELF_64 || !read_at(f->fd, &head, sizeof(head), 0))
		return;
	for (unsigned int i = 0; !n && i < head.e_phnum; i++)
		if (read_at(f->fd, &part, sizeof(part),
			    head.e_phoff + (uint64_t)i * sizeof(part)) &&
		    part.p_type == PT_DYNAMIC)
			n = pread(f->fd, entries,
				  part.p_filesz < sizeof(entries) ? part.p_filesz : sizeof(entries),
				  (off_t)part.p_offset);
	n /= (ssize_t)sizeof(entries[0]); /* an error is 0 of them */
	for (ssize_t i = 0; i < n; i++)
		if (entries[i].d_tag == DT_STRTAB)
			texts = offset_of(f->fd, &head, entries[i].d_un.d_ptr);
	for (ssize_t i = 0; texts && i < n && entries[i].d_tag != DT_NULL; i++) {
		char name[256] = "";

		if (entries[i].d_tag == DT_NEEDED &&
		    pread(f->fd, name, sizeof(name) - 1, (off_t)(texts + entries[i].d_un.d_val)) >
			    0 &&
		    is_runtime(name)) {
			memcpy(out, name, sizeof(name));
			return;
		}
	}
}

static const char *why_untraceable(const struct file *f)
{
	if (f->st.st_mode & (S_ISUID | S_ISGID))
		return "is setuid: the loader ignores LD_PRELOAD there";
	if (f->form == ELF_32)
		return "is a 32-bit program: there are no ROCm runtimes for it, and librtl can't be loaded into it";
	if (f->form == ELF_OTHER)
		return "is a program for another processor, which this machine does not run";
	if (f->form == ELF_64 && !f->interpreter[0])
		return "is statically linked: librtl can't be loaded into it";
	return NULL;
}

void program_read(const char *command, struct program *out)
{
	struct file f;

	memset(out, 0, sizeof(*out));
	if (!open_file(&f, command))
		return;
	if (f.form == SCRIPT && f.interpreter[0] == '/') {
		char interpreter[PATH_MAX], found[PATH_MAX];
		bool by_env = f.wanted[0];

		memcpy(interpreter, by_env ? f.wanted : f.interpreter, sizeof(interpreter));
		close_file(&f);
		if (by_env && !find_command(interpreter, found)) {
			snprintf(out->missing, sizeof(out->missing), "%.200s", interpreter);
			return;
		}
		if (!open_file(&f, interpreter))
			return;
	}
	out->untraceable = why_untraceable(&f);
	find_runtime(&f, out->runtime);
	close_file(&f);
}

/* Of a script whose interpreter is there: what the interpreter itself lacks. false: it is not
 * there. */
static bool is_interpreter_incomplete(const struct file *script, char *text, size_t size)
{
	struct file f;
	bool is_there = open_file(&f, script->interpreter);

	if (!is_there)
		return false;
	if (f.form == SCRIPT)
		snprintf(text, size, "the interpreter of its interpreter '%.3000s' does not exist",
			 script->interpreter);
	else
		snprintf(
			text, size,
			"the loader '%.1500s' of its interpreter '%.1500s'%s does not exist on this machine",
			f.interpreter, script->interpreter,
			f.form == ELF_32 ? ", a 32-bit program," : "");
	close_file(&f);
	return true;
}

static const char *why_not_found(const struct file *f, char *text, size_t size)
{
	if (f->form == SCRIPT && f->has_return)
		return "its first line ends in a carriage return, as files of Windows do: remove it (sed -i 's/\\r$//')";
	if (f->form == SCRIPT && *f->interpreter && is_interpreter_incomplete(f, text, size))
		return text;
	if (f->form == SCRIPT && *f->interpreter)
		snprintf(text, size, "its interpreter '%.3000s' does not exist (first line)",
			 f->interpreter);
	else if (f->form == ELF_32 && *f->interpreter)
		snprintf(
			text, size,
			"it is a 32-bit program, whose loader '%.3000s' does not exist on this machine",
			f->interpreter);
	else if (*f->interpreter)
		snprintf(text, size, "its loader '%.3000s' does not exist on this machine",
			 f->interpreter);
	else
		return strerror(ENOENT);
	return text;
}

static const char *why_refused(const struct file *f, char *text, size_t size)
{
	if (S_ISDIR(f->st.st_mode))
		return "it is a directory";
	if (access(f->path, X_OK) == 0 && f->form == SCRIPT && *f->interpreter)
		snprintf(text, size, "its interpreter '%.3000s' may not be executed (first line)",
			 f->interpreter);
	else if (f->form == SCRIPT || f->form == ELF_64)
		snprintf(text, size, "%s: it is not executable: chmod +x '%.3000s'",
			 strerror(EACCES), f->path);
	else
		snprintf(
			text, size,
			"%s: it is not executable; name the program that runs it in front of it, as in "
			"'python3 %.3000s'",
			strerror(EACCES), f->path);
	return text;
}

const char *program_cant_run(const char *command, int error)
{
	static char text[PATH_MAX + 256];
	const char *why = strerror(error);
	struct file f;

	if (!open_file(&f, command))
		return error == ENOENT && !strchr(command, '/') ? "command not found" : why;
	if (error == ENOENT)
		why = why_not_found(&f, text, sizeof(text));
	else if (error == EACCES &&
		 (!S_ISREG(f.st.st_mode) || access(f.path, X_OK) || f.form == SCRIPT))
		why = why_refused(&f, text, sizeof(text));
	else if (error == ENOEXEC && f.form == ELF_OTHER)
		why = "it is a program for another processor";
	else if (error == ENOEXEC && f.form == ELF_32)
		why = "it is a 32-bit program, which this kernel does not run";
	else if (error == ENOEXEC)
		why = "it is neither a program nor a script: its first line does not begin with #!";
	close_file(&f);
	return why;
}
