/* document_lines.h - a document for people: lines with names in braces, which the facts of the tree
 * fill.
 *
 *   {key}            a fact of this object, or of one around it; {a.b}: b of the object a;
 *                    {rows.count}: items of an array
 *   {a/b} {a-b}      the ratio, the difference of two numbers, worked out when it is printed
 *   {key:format}     not as its unit says: a format of DOCUMENT_UNITS (+time: with its sign); .3f,
 *                    +.4f, .4g of printf; +.1% (a ratio in percent, with its sign); of words:
 *                    clean, whole (scenarios/language/source.h), raw
 *   {key>9} {key<9}  right, left in 9 places; {key<9.9}: and cut there
 *   {bar key 24}     a bar of 24 cells, filled to a ratio
 *   {wrap key 62}    a sentence that goes on below its own beginning: column 62 (without a number:
 *                    where it begins); ends the line
 *   {wrapped 17} ... {end}    the same of what stands between
 *   {to 48}          blanks up to column 48, at least one
 *   {bold} {dim} {red} {plain}    where the terminal has colours
 *   {if key} {if not key} {if a > 1} {if a = word} ... {else} ... {end}    known and not false;
 *                    signs are > < = and, by `not`, what they deny
 *   {each rows} ... {end}    for each item (of an object: once); {each rows 12}: of the first 12.
 *                    {row} is the number of the item, from 1
 *   {table} ... {end}    its lines are a table: cells between tabs, each column as wide as its
 *                    widest cell; the first line has the heads, with '<' before those of words
 *
 * What is skipped is read all the same: a name that nothing in the tree has is a fault of ours and
 * ends the program wherever it stands, but inside an {each} of no items. */
#ifndef ORRERY_ANALYSIS_TELL_DOCUMENT_DOCUMENT_LINES_H
#define ORRERY_ANALYSIS_TELL_DOCUMENT_DOCUMENT_LINES_H

#include "analysis/output/terminal/session.h"
#include "analysis/tell/document/document.h"

void document_lines(const struct fact *document, const char *lines, const struct session *session);
/* The same as a text in the arena of the document, without colours. */
const char *document_text(const struct fact *document, const char *lines);
/* JSON, or one set of lines after another (NULL ends them), on the session's output. */
void document_print(const struct fact *document, const char *const *lines, bool json,
                    const struct session *session);

#endif
