/* One row for each law of durations: X(NAME, name) stands for DURATION_NAME, `duration_name`, and
 * how scenarios spell it. */
X(FIXED, fixed)
X(EXPONENTIAL, exponential)
X(WEIBULL, weibull)
X(LOGNORMAL, lognormal)
X(GAMMA, gamma)
