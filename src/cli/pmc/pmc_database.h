/* SPDX-License-Identifier: MIT */
/* pmc_database.h - changes of the counters in a finished database, in one transaction
 *
 * The database stays one that rtl wrote: its change counter is set to what it is afterwards.
 */
#ifndef RTL_CLI_PMC_PMC_DATABASE_H
#define RTL_CLI_PMC_PMC_DATABASE_H

#include <sqlite3.h>
#include <stdint.h>

struct pmc_database {
	sqlite3 *db;
	const char *path;
};

/* Errors are reported, and -errno is returned. */
int pmc_database_open(struct pmc_database *d, const char *path);
/* Ends the transaction: `ret` is 0, or what went wrong: then nothing is changed. Returns the first
 * error. */
int pmc_database_close(struct pmc_database *d, int ret);
/* Runs a statement, which is made as by sqlite3_mprintf(). */
int pmc_database_run(struct pmc_database *d, const char *fmt, ...);
/* Its first number; 0 if there is none. */
int64_t pmc_database_number(struct pmc_database *d, const char *fmt, ...);
/* Attaches another database, before the first change. */
int pmc_database_attach(struct pmc_database *d, const char *path, const char *name);

#endif
