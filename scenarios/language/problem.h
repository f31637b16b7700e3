/* problem.h - one thing that is wrong with a user's text, as it is printed. */
#ifndef ORRERY_SCENARIOS_LANGUAGE_PROBLEM_H
#define ORRERY_SCENARIOS_LANGUAGE_PROBLEM_H

#include <stdbool.h>

/* One problem, ready to print; severity orders nothing, problems stand in file order. */
struct problem {
    bool warning;
    bool misread;          /* the word itself is wrong, no rule between keys */
    const char *file;      /* path, or "--set"; NULL: it is about no place */
    unsigned line, column; /* from 1; column counts UTF-8 characters */
    const char *text;      /* "unknown key 'tpp'; did you mean 'tp'?" */
    const char *source;    /* the line itself, cleaned of control characters; NULL: none */
    unsigned width;        /* characters to underline, at least 1 */
    const char *idle;      /* the key that has no effect, which is all that it says; else NULL */
};

#endif
