/* SPDX-License-Identifier: MIT */
/* pmc_yaml.h - the part of YAML that rocprofv3's input files use, as JSON
 *
 * Mappings and sequences by indentation, [a, b] and {a: b} also over several lines, plain and quoted scalars, comments, one document.
 * Not: anchors, tags, block scalars (| and >), several documents.
 */
#ifndef RTL_CLI_PMC_YAML_H
#define RTL_CLI_PMC_YAML_H

#define PMC_YAML_ERROR_SIZE 256u

/* The text as JSON, to be freed. Scalars are strings, but for true and false. NULL: it is not understood: `error` is "LINE: why". */
char *pmc_yaml_to_json(const char *text, char *error);

#endif
