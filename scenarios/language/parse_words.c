#include "scenarios/language/parse_words.h"

#include <stddef.h>
#include <string.h>

const char *parse_plain_words(const char *problem, bool *inside)
{
    static const struct {
        const char *problem, *plain;
        bool inside;
    } words[] = {
        {"found character that cannot start any token",
         "this character cannot start a value; indent with blanks, and put it in quotes if it is "
         "meant",
         false},
        {"mapping values are not allowed in this context",
         "a ':' does not fit here; check the indentation, or put the value in quotes", false},
        {"could not find expected ':'", "a key needs a ':' and a blank after it", false},
        {"did not find expected key",
         "a key was expected here; check the indentation, and quotes and brackets before it",
         false},
        {"did not find expected '-' indicator",
         "a list item ('- ') was expected here; check the indentation", false},
        {"did not find expected ',' or '}'", "',' or '}' was expected here", false},
        {"did not find expected ',' or ']'", "',' or ']' was expected here", false},
        {"found unexpected end of stream", "the text ends inside quotes", false},
        {"did not find expected <document start>",
         "the text goes on after its end; a scenario is one mapping of 'key: value' lines", false},
        {"found undefined tag handle", "tags ('!') are refused; remove it", false},
        {"found unknown escape character", "unknown escape after '\\' in double quotes", true},
        {"block sequence entries are not allowed in this context",
         "a list item does not fit here; start the list on a line of its own", false},
        {"did not find expected node content", "a value was expected here", false},
        {"found a tab character that violates indentation",
         "a tab character indents this line; indent with blanks", true},
        {"found a tab character where an indentation space is expected",
         "a tab character indents this line; indent with blanks", true},
        {"mapping keys are not allowed in this context",
         "a '?' key does not fit here; write 'key: value'", false},
        {"found unexpected document indicator", "the text in quotes runs into '---' or '...'",
         false},
        {"did not find expected alphabetic or numeric character",
         "'&' and '*' make anchors and aliases, which are refused; put the value in quotes", false},
        {"did not find expected whitespace or line break",
         "'!' makes a tag, which is refused; put the value in quotes", false},
        {"found invalid Unicode character escape code",
         "this \\ escape names no character; write the character itself", true},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(problem, words[i].problem) == 0) {
            *inside = words[i].inside;
            return words[i].plain;
        }
    }
    *inside = false;
    return problem;
}
