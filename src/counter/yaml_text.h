/* SPDX-License-Identifier: MIT */
/* yaml_text.h - the part of YAML that rocprofv3's input files use, as JSON
 *
 * Mappings and sequences by indentation, [a, b] and {a: b} also over several lines, plain and
 * quoted scalars, of several lines, too, comments, one document. What else YAML has (anchors,
 * merged mappings, block scalars) is read by libyaml, if it is there (yaml_lib.h).
 */
#ifndef RTL_COUNTER_YAML_TEXT_H
#define RTL_COUNTER_YAML_TEXT_H

#include <stdbool.h>

#define YAML_TEXT_ERROR_SIZE 256u

/* The text as JSON, to be freed. Scalars are strings, but for true and false. NULL: it is not
 * understood: `error` is "LINE: why". */
char *yaml_text_to_json(const char *text, char *error);
/* Whether a file that is no JSON is YAML: by its name, or its begin behind comments, "jobs:" or
 * "---". */
bool yaml_text_is(const char *path, const char *text);

#endif
