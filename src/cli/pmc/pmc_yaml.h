/* SPDX-License-Identifier: MIT */
/* pmc_yaml.h - the part of YAML that rocprofv3's input files use, as JSON
 *
 * Mappings and sequences by indentation, [a, b] and {a: b} also over several lines, plain and
 * quoted scalars, comments, one document. What else YAML has (anchors, merged mappings, block
 * scalars) is read by libyaml, if it is there (yaml_lib.h).
 */
#ifndef RTL_CLI_PMC_PMC_YAML_H
#define RTL_CLI_PMC_PMC_YAML_H

#include <stdbool.h>

#define PMC_YAML_ERROR_SIZE 256u

/* The text as JSON, to be freed. Scalars are strings, but for true and false. NULL: it is not
 * understood: `error` is "LINE: why". */
char *pmc_yaml_to_json(const char *text, char *error);
/* Whether a file that is no JSON is YAML: by its name, or its begin behind comments, "jobs:" or
 * "---". */
bool pmc_yaml_is(const char *path, const char *text);

#endif
