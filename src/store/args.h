/* SPDX-License-Identifier: MIT */
/* args.h - the recorded arguments of an API call: by role, and as text
 *
 * As text: "name=value, name=value", pointers and handles as 0x..., strings in quotes with \" \\ \n
 * \xHH, enumerators by name where known (else the number), dim3 as {x,y,z}, bytes as plain numbers,
 * "*ptr=value" for results, requests of MPI as 0xHANDLE:SOURCE:TAG with spaces between them. The
 * form is stable: readers of the database may split it at ", ".
 */
#ifndef RTL_STORE_ARGS_H
#define RTL_STORE_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/index.h"

/* Parses op->signature into op->args; an argument that can't be parsed is left out. The owner of
 * the store_op frees `args` with alloc_free(). 0 or -ENOMEM. */
int args_parse(struct store_op *op);

/* The first argument of that role; NULL: the function has none, or the call was recorded without
 * arguments. */
const struct store_arg *args_find(const struct store_api *api, const char *role);
/* Its first word; `fallback` when there is none. */
uint64_t args_value(const struct store_api *api, const char *role, uint64_t fallback);

/* The arguments as text, "" without any; cut at `size` with "..." at the end. Returns its
 * length. */
size_t args_text(const struct index *index, const struct store_api *api, char *buf, size_t size);

/* The enumerator's name, NULL when the enumeration or the value is not known. */
const char *args_enum(const char *enum_name, uint64_t value);

#endif
