/* SPDX-License-Identifier: MIT */
/* yaml_lib.h - YAML by libyaml, which is loaded when a file needs it: anchors, aliases, merged
 * mappings, blocks of text
 *
 * yaml_text.c reads what most files have without it.
 */
#ifndef RTL_COUNTER_YAML_LIB_H
#define RTL_COUNTER_YAML_LIB_H

#include <stdbool.h>

/* The first document as JSON, to be freed: plain true, false and null are those, other scalars
 * strings. NULL: the library is not there, or the text is not YAML, or larger than YAML_LIB_MAX
 * with its aliases. */
#define YAML_LIB_MAX (1u << 20)
char *yaml_lib_to_json(const char *text);
/* Whether the library is there. */
bool yaml_lib_is_there(void);

#endif
