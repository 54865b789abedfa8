/* SPDX-License-Identifier: MIT */
/* args.h - the recorded arguments of an API call: by role, and as text
 *
 * As text: "name=value, name=value", pointers and handles as 0x..., strings in quotes with \" \\ \n \xHH,
 * enumerators by name where known (else the number), dim3 as {x,y,z}, bytes as plain numbers, "*ptr=value" for
 * what came back. The form is stable: readers of the database may take it apart at ", ".
 */
#ifndef RTL_STORE_ARGS_H
#define RTL_STORE_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/index.h"

/* Takes a signature apart; what is not understood is left out. The arrays live until the store_op's owner
 * frees `args` with alloc's free function. 0 or -ENOMEM. */
int args_parse(struct store_op *op);

/* The first argument of that role; NULL: the function has none, or the call was recorded without. */
const struct store_arg *args_find(const struct store_api *api, const char *role);
/* Its first word; `fallback` when there is none. */
uint64_t args_value(const struct store_api *api, const char *role, uint64_t fallback);

/* The arguments as text, "" without any; cut at `size` with "..." at the end. Returns its length. */
size_t args_text(const struct index *index, const struct store_api *api, char *buf, size_t size);

/* The enumerator's name, NULL when the enumeration or the value is not known. */
const char *args_enum(const char *enum_name, uint64_t value);

#endif
