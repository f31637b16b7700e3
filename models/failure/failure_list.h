/* One row for each failure law: X(name) stands for `failure_name`; scenarios spell it with a dash.
 */
X(exponential)
X(weibull)
X(lognormal)
X(gamma)
X(lemon)
X(shock)
X(trace)
