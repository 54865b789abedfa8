/* SPDX-License-Identifier: MIT */
/* compare.h - whether two sets of times differ by more than their noise
 *
 * No assumption about how times are distributed: the test is that of Mann and Whitney (exact for
 * few values, else its normal approximation with the correction for equal values), the interval of
 * the change a bootstrap of medians. Results depend on the values and the seed alone.
 */
#ifndef RTL_ANALYSIS_COMPARE_H
#define RTL_ANALYSIS_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Chance of a false alarm in a whole comparison, at most. Half of the 5 % that rtl promises: times
 * of a run depend on each other a little, which the test does not know. */
#define COMPARE_ALPHA 0.025
#define COMPARE_INTERVAL_MIN 6 /* values of a side from which on an interval means something */

struct compare_result {
	int64_t a, b;	  /* medians: compare_median() */
	double change;	  /* b / a - 1; 0 if both are 0, infinite if only a is */
	double low, high; /* in this range the change is with 95 % */
	double p;	  /* chance of at least such a difference without a cause */
	/* share of pairs in which the value of b is larger, equal ones half: 0.5 is none */
	double effect;
};

/* The smallest value that half of the values, of which there is one at least, do not exceed; sorts
 * them. */
int64_t compare_median(int64_t *values, size_t nr);
/* Compares two sets, each of at least one value; sorts both. 0 or -ENOMEM. */
int compare_samples(int64_t *a, size_t nr_a, int64_t *b, size_t nr_b, uint64_t seed,
		    struct compare_result *out);
/* The smallest p that sets of these sizes can have. */
double compare_least_p(size_t nr_a, size_t nr_b);
/* The smallest number of values on each side with which p can be `alpha` or less. */
size_t compare_values_needed(double alpha);
/* Holm's correction: significant[i] says whether p[i] is, so that the chance of any false alarm
 * among all is `alpha` at most. 0 or
 * -ENOMEM. */
int compare_holm(const double *p, size_t nr, double alpha, bool *significant);

/* Whether a significant difference is one of the medians, too: the interval of the change does not
 * have 0 in it. */
bool compare_differs(const struct compare_result *r, bool significant);

/* A generator of random numbers (splitmix64): its state is the seed. */
uint64_t compare_random(uint64_t *state);
double compare_uniform(uint64_t *state); /* 0 < x < 1 */
double compare_normal(uint64_t *state);	 /* mean 0, deviation 1 */

#endif
