/* SPDX-License-Identifier: MIT */
/* itanium.cpp - LLVM's demangler (third_party/llvm-demangle) without C++'s run-time library
 *
 * A short mangled name can expand to gigabytes (substitutions that double), or to years of printing
 * nothing (packs that are empty). LLVM's headers allocate by malloc() and call abort() without
 * memory. So they are compiled here with an allocator of their own, which takes from the caller's
 * block, and what would be abort() is a longjmp that ends the call. No destructor that is jumped
 * over owns anything: the block is the caller's.
 *
 * Threads:  any; the state of a call is on its thread.
 * Fails:    0, see itanium.h.
 */
#include "base/itanium.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

namespace
{

/* Steps of printing: a node each. A kernel's name has hundreds. */
constexpr size_t max_steps = 1000000;
/* Bytes of stack from itanium_demangle() on, but for the last step's own: parsing and printing
 * recurse with the depth of the name, on the thread that loads a kernel. */
constexpr size_t max_stack = 32 * 1024;

struct state {
	jmp_buf stop;
	char *out;
	size_t out_size;
	char *next, *end;
	size_t steps;
	const char *top; /* of the stack */
};

thread_local state *now;

[[noreturn]] void stop()
{
	longjmp(now->stop, 1);
}

/* In each function that recurses. */
inline void check_stack()
{
	const char *here = static_cast<const char *>(__builtin_frame_address(0));

	if (static_cast<size_t>(now->top - here) > max_stack)
		stop();
}

void *take(size_t size)
{
	size = (size + 15) & ~static_cast<size_t>(15);
	if (size > static_cast<size_t>(now->end - now->next))
		stop();
	now->next += size;
	return now->next - size;
}

} // namespace

/* What the headers call std::malloc() and so on. */
namespace std
{

inline void *itanium_malloc(size_t size)
{
	return take(size);
}

/* The text's buffer is as large as it may become. For a vector `size` is twice what it has. */
inline void *itanium_realloc(void *old, size_t size)
{
	if (old == now->out)
		stop();
	return memcpy(take(size), old, size / 2);
}

inline void itanium_free(void *)
{
}

[[noreturn]] inline void itanium_abort()
{
	stop();
}

} // namespace std

#define malloc itanium_malloc
#define realloc itanium_realloc
#define free itanium_free
#define abort itanium_abort
#define DEMANGLE_ASSERT(expr, message) ((expr) ? (void)0 : stop())
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <ItaniumDemangle.h>
#pragma GCC diagnostic pop
#undef malloc
#undef realloc
#undef free
#undef abort

/* The one function that LLVM has outside of its headers: behind the number that tells apart what a
 * function declares under one name, `_5` or `__15_`, and `first` where there is none. */
const char *llvm::itanium_demangle::parse_discriminator(const char *first, const char *last)
{
	const char *p = first + 1;

	if (first == last || *first != '_' || p == last)
		return first;
	if (std::isdigit(static_cast<unsigned char>(*p)))
		return p + 1;
	if (*p != '_')
		return first;
	while (++p != last && std::isdigit(static_cast<unsigned char>(*p)))
		;
	return p != last && *p == '_' ? p + 1 : first;
}

namespace
{

using namespace llvm::itanium_demangle;

/* The parser's nodes. */
struct allocator {
	void reset()
	{
	}
	template <typename T, typename... Args> T *makeNode(Args &&...args)
	{
		return new (take(sizeof(T))) T(std::forward<Args>(args)...);
	}
	void *allocateNodeArray(size_t nr)
	{
		return take(nr * sizeof(Node *));
	}
};

struct output : OutputBuffer {
	using OutputBuffer::OutputBuffer;
	void printLeft(const Node &node) override
	{
		check_stack();
		if (++now->steps > max_steps)
			stop();
		OutputBuffer::printLeft(node);
	}
	void printRight(const Node &node) override
	{
		check_stack();
		if (++now->steps > max_steps)
			stop();
		OutputBuffer::printRight(node);
	}
};

/* LLVM's parser calls these of its own, wherever it recurses. */
struct parser : AbstractManglingParser<parser, allocator> {
	using base = AbstractManglingParser<parser, allocator>;
	using base::base;
	Node *parseType()
	{
		check_stack();
		return base::parseType();
	}
	Node *parseQualifiedType()
	{
		check_stack();
		return base::parseQualifiedType();
	}
	Node *parseExpr()
	{
		check_stack();
		return base::parseExpr();
	}
	Node *parseEncoding(bool parse_params = true)
	{
		check_stack();
		return base::parseEncoding(parse_params);
	}
	Node *parseName(NameState *state = nullptr)
	{
		check_stack();
		return base::parseName(state);
	}
	Node *parseTemplateArg()
	{
		check_stack();
		return base::parseTemplateArg();
	}
	Node *parseBracedExpr()
	{
		check_stack();
		return base::parseBracedExpr();
	}
	Node *parseConstraintExpr()
	{
		check_stack();
		return base::parseConstraintExpr();
	}
	Node *parseTemplateParamDecl(TemplateParamList *params)
	{
		check_stack();
		return base::parseTemplateParamDecl(params);
	}
};

__attribute__((noinline)) size_t print(const char *mangled, size_t size)
{
	parser whole(mangled, mangled + size);
	output text(now->out, now->out_size);
	Node *tree = whole.parse();

	if (!tree)
		return 0;
	tree->print(text);
	text += '\0';
	return text.getCurrentPosition() - 1;
}

} // namespace

size_t itanium_demangle(const char *mangled, size_t size, char *out, size_t out_size, void *work,
			size_t work_size)
{
	state here = {};
	size_t used = 0;

	here.out = out;
	here.out_size = out_size;
	here.next = static_cast<char *>(work);
	here.end = here.next + work_size;
	here.top = static_cast<const char *>(__builtin_frame_address(0));
	now = &here;
	if (setjmp(here.stop) == 0)
		used = print(mangled, size);
	else
		used = 0;
	now = nullptr;
	return used;
}
