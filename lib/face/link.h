/* SPDX-License-Identifier: MIT */
/* link.h - a face's connection to the core
 *
 * The first call of link_core() connects, also if it comes before every constructor. What a face
 * does then is a function of one of its upper files, which the files below do not name:
 * LINK_START() puts it into a section of the library.
 */
#ifndef RTL_LIB_FACE_LINK_H
#define RTL_LIB_FACE_LINK_H

#include <stdbool.h>

#include "../librtl/core.h"

/* `core` NULL: librtl is of another build. false: the face has no core; link_core() returns NULL.
 * It does not call link_core(). */
typedef bool (*link_start_fn)(const struct rtl_core *core);

/* In one file of a face: the function that link_core() calls, once. */
#define LINK_START(fn)                                                                             \
	__attribute__((used, section("rtl_link"))) static const link_start_fn link_start = fn

/* NULL: librtl is of another build, or the face could not connect. Any thread; the first call waits
 * for what LINK_START() names. */
const struct rtl_core *link_core(void);

#endif
