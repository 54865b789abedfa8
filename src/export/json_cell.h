/* SPDX-License-Identifier: MIT */
/* json_cell.h - a cell of a table as a member of a JSON object */
#ifndef RTL_EXPORT_JSON_CELL_H
#define RTL_EXPORT_JSON_CELL_H

#include "analysis/sheet.h"
#include "export/json.h"

/* The column's key and the cell's value: a text, a number in the column's unit; null without
 * one. */
static inline void json_cell(struct json *j, const struct sheet_column *column,
			     const struct sheet_cell *cell)
{
	json_key(j, column->key);
	if (cell->none) {
		json_null(j);
		return;
	}
	switch (column->unit) {
	case SHEET_NAME:
		json_text(j, cell->text);
		break;
	case SHEET_SPAN:
		json_int(j, (int64_t)cell->num);
		break;
	case SHEET_SHARE:
	case SHEET_RATE:
	case SHEET_REAL:
	case SHEET_RATIO:
		json_double(j, cell->real);
		break;
	default:
		json_uint(j, cell->num);
	}
}

#endif
