/* Configurations written as shell scripts: what they set, what cannot be known, what is refused. */
#include <stdio.h>
#include <string.h>

#include "scenarios/import/mllog/shell.h"
#include "tests/test.h"

static struct arena *arena;
static struct shell shell;

static void read_text(const char *text)
{
    struct error error = {""};
    if (!shell_parse(arena, "config.sh", arena_text(arena, text), strlen(text), &shell, &error))
        fail_msg("%s", error.text);
}

static void is(const char *name, const char *value)
{
    const struct shell_variable *v = shell_find(&shell, name);
    if (v == NULL || v->value == NULL || strcmp(v->value, value) != 0)
        fail_msg("%s is %s, not '%s'", name,
                 v == NULL          ? "not set"
                 : v->value == NULL ? v->why
                                    : v->value,
                 value);
}

static void unknown(const char *name, unsigned line)
{
    const struct shell_variable *v = shell_find(&shell, name);
    if (v == NULL || v->value != NULL || v->why == NULL || v->line != line)
        fail_msg("%s is known (%s), or not of line %u but %u", name,
                 v == NULL ? "not set" : v->value, line, v == NULL ? 0 : v->line);
}

static void refused(const char *text, const char *why)
{
    struct error error = {""};
    if (shell_parse(arena, "config.sh", arena_text(arena, text), strlen(text), &shell, &error) ||
        strstr(error.text, why) == NULL)
        fail_msg("'%s' does not say '%s'", error.text, why);
}

static void test_assignments(void **state)
{
    read_text("#!/bin/bash\n"
              "export MINIBS=48 # of a replica\n"
              "  A='$MINIBS # stays'; export B=\"${MINIBS}x$MINIBS\"\n"
              "V=\"it's\"; export C=a\\\n"
              "b D=\"two words\"\n"
              "E+=1; E+=2; F=; export G\n"
              "CONFIG=x command --with CONFIG=y\r\n"
              "H=1 # last\nunset H\nexport I=\"a\\\"b\\$c\"d'e'");
    is("MINIBS", "48");
    is("A", "$MINIBS # stays");
    is("B", "48x48");
    is("V", "it's");
    is("C", "ab");
    is("D", "two words");
    is("E", "12");
    is("F", "");
    is("I", "a\"b$cde");
    assert_null(shell_find(&shell, "G"));
    assert_null(shell_find(&shell, "H"));
    assert_null(shell_find(&shell, "CONFIG"));
    assert_int_equal(shell_find(&shell, "MINIBS")->line, 2);
    assert_int_equal(shell_find(&shell, "D")->line, 4);
    assert_int_equal(shell_find(&shell, "I")->line, 10);
}

/* XCU 2.6.2: what each operator gives of a name that is not set, empty, set. */
static void test_parameters(void **state)
{
    read_text("S=set; E=\n"
              "export A=\"${X:-d}${E:-d}${S:-d}\" B=\"${X-d}${E-d}${S-d}\"\n"
              "export C=\"${X:+d}${E:+d}${S:+d}\" D=\"${X+d}${E+d}${S+d}\"\n"
              "export TENSOR_MODEL_PARALLEL=\"${TP:=4}\"\n"
              ": \"${PP:=6}\" \"${S:=no}\" \"${E=no}\"\n"
              "export F=\"${Y:-${TP}x${PP}}\" G=${#S} H=${S%t} I=$1 J=${A[0]}\n"
              "K=$(date +%s) L=`date` M=(1 2 3) N=${Z:?must be set} O=\"$G\"\n");
    is("A", "ddset");
    is("B", "dset");
    is("C", "d");
    is("D", "dd");
    is("TENSOR_MODEL_PARALLEL", "4");
    is("TP", "4");
    is("PP", "6");
    is("S", "set");
    is("E", "");
    is("F", "4x6");
    for (const char *name = "GHIJ"; *name != '\0'; name++)
        unknown((char[]){*name, '\0'}, 6);
    for (const char *name = "KLMNO"; *name != '\0'; name++)
        unknown((char[]){*name, '\0'}, 7);
}

static void test_integers(void **state)
{
    read_text("N=4; T=7\n"
              "A=$((5 + ${NEXP:-1} * ($T + 5))) B=$(( 17 / N % 3 - -2 )) C=$((2-1-1))\n"
              "D=$((1/0)) E=$((9223372036854775807+1)) F=$((T==7)) G=$((010)) H=$((N*(T))\n)\n"
              "I=$((999999999999999999*999999999999999999)) J=$((X+1)) K=$(((N)))");
    is("A", "17");
    is("B", "3"); /* 17/4 = 4, 4 % 3 = 1, 1 + 2 */
    is("C", "0");
    is("J", "1");
    is("K", "4");
    unknown("D", 3);
    unknown("E", 3);
    unknown("F", 3);
    unknown("G", 3);
    unknown("H", 3);
    unknown("I", 5);
    /* What ends too early, and signs as far as they nest. */
    read_text("A=$((1 +)) B=$((4 *)) C=$((2 - - -3)) D=$((-(-(+7))))\n"
              "E=$((--------------------------------1)) F=$((-------------------------------1))\n");
    unknown("A", 1);
    unknown("B", 1);
    is("C", "-1");
    is("D", "7");
    unknown("E", 2); /* 32 of them, and a number: 33 deep */
    is("F", "-1");
}

static void test_branches(void **state)
{
    read_text("M=6\n"
              "if [ $M -eq 6 ]; then A=1; else A=2; fi\n"
              "if [[ \"${V:-}\" == \"v31\" ]]; then\n  B=1\nelif [[ $M -gt 7 ]]; then\n  B=2\n"
              "else\n  B=3\nfi\n"
              "if [[ -n \"$V\" ]] && [[ $M -eq 6 ]]; then C=1; fi\n"
              "if [[ $(($M % 4)) != 0 ]]; then D=1; fi\n"
              "if [ -f file ]; then E=1; else E=2; fi\n"
              "if ! [ $M -eq 6 ]; then F=1; fi\n"
              "if [[ ! $M -lt 6 ]]; then G=1; fi\n"
              "[[ $M -eq 6 ]] && H=1\n"
              "I=1; [ -d x ] || I=2; [ -d x ] ||\n J=2\n"
              "K=6; if grep -q x y; then K=6; fi\n"
              "if [ 1 -eq 1 ]; then if [ 1 -eq 2 ]; then L=1; fi; M2=1; fi\n"
              "if [ 1 -eq 2 ]; then source nothing.sh; exit 1; fi\n"
              "if [ 1 -eq 1 ]; then N=1; elif [ 1 -eq 2 ]; then N=2; else N=3; fi\n"
              "if [[ $M -eq 6 ]] && [ -f file ]; then O=1; fi\n"
              "if [ 1 -eq 2 ]; then if [ 1 -eq 1 ]; then P=1; fi; fi\n"
              "if [ $M -gt 6 ]; then Q=gt; fi; if [ $M -lt 6 ]; then Q=lt; fi\n"
              "if [ $M -ne 6 ]; then Q=ne; fi; if [ $M -ge 7 ]; then Q=ge; fi\n"
              "if [ $M -le 5 ]; then Q=le; fi; if [ $M -eq 5 ]; then Q=eq; fi\n"
              "if [ $M -ge 6 ]; then R=1; fi; if [ $M -le 6 ]; then S=1; fi\n"
              "if [ $M -lt 7 ]; then T=1; fi; if [ $M -ne 5 ]; then U=1; fi\n"
              "if [[ $M ]]; then V2=1; fi; E2=; if [[ $E2 ]]; then W=1; else W=2; fi\n"
              "if [ 1 -eq 2 ] || [ 2 -eq 1 ]; then X1=1; fi\n"
              "if [ 1 -eq 1 ] && [ -f x ] || [ 1 -eq 1 ]; then X2=1; fi\n"
              "if [ 1 -eq 2 ] || [ 1 -eq 1 ]; then X3=1; fi\n"
              "if [ 1 -eq 1 ] && [ -f x ]; then X4=1; fi\n"
              "if [ 1 -eq 2 ] && [ -f x ] || [ 1 -eq 1 ] && [ 1 -eq 1 ]; then X5=1; fi\n"
              "if [ -f x ]; [ 1 -eq 1 ]; then X6=1; fi\n");
    is("N", "1");
    unknown("O", 22);
    assert_null(shell_find(&shell, "P"));
    assert_null(shell_find(&shell, "Q"));
    is("R", "1");
    is("S", "1");
    is("T", "1");
    is("U", "1");
    is("V2", "1"); /* a word alone: is there one? */
    is("W", "2");
    is("A", "1");
    is("B", "3");
    assert_null(shell_find(&shell, "C")); /* V is empty */
    assert_null(shell_find(&shell, "X1"));
    is("X2", "1");
    is("X3", "1");
    unknown("X4", 33);
    is("X5", "1");
    unknown("X6", 35);
    is("D", "1");
    unknown("E", 12);
    unknown("F", 13);
    is("G", "1");
    unknown("H", 15);
    unknown("I", 16);
    unknown("J", 17);
    is("K", "6");
    assert_null(shell_find(&shell, "L"));
    is("M2", "1");
    assert_int_equal(shell.missing_count, 0);
}

/* What POSIX says of -z and -n, quotes within a word, and tests of a form that is not followed. */
static void test_forms_of_a_test(void **state)
{
    read_text("E=; V=x\n"
              "if [ -z \"$E\" ]; then A=1; else A=2; fi; if [[ -z $V ]]; then B=1; else B=2; fi\n"
              "if [ -n \"$E\" ]; then C=1; else C=2; fi; if [[ -n $V ]]; then D=1; else D=2; fi\n"
              "if [ ]; then F=1; fi\n"
              "if [ $V = x -a $V = x ]; then G=1; fi\n"
              "if [[ $V == x* ]]; then H=1; fi\n"
              "if [ $V = x ]; then J='a'b'c'\"d\"e; fi\n"
              "if [ -e $V ]; then K=1; fi; if [ $V -nt x ]; then L=1; fi\n"
              "if [ $(x) = $V ]; then M=1; fi; if [ 6 -lt 6x ]; then N=1; fi\n"
              "if [ 6x -lt 6 ]; then O=1; fi\n");
    unknown("M", 9);
    unknown("N", 9);
    unknown("O", 10);
    is("A", "1");
    is("B", "2");
    is("C", "2");
    is("D", "1");
    is("J", "abcde");
    unknown("F", 4);
    unknown("G", 5);
    unknown("H", 6);
    unknown("K", 8);
    unknown("L", 8);
}

/* Of what perhaps runs nothing is known, unless it sets the value that is there. */
static void test_what_perhaps_runs(void **state)
{
    read_text("if [ -f x ]; then A=1; elif [ 1 -eq 1 ]; then A=2; else A=3; fi\n"
              "B=2; if [ -f x ]; then B=1; elif [ 1 -eq 1 ]; then B=2; else B=3; fi\n"
              "if [ -f x ]; then C=1; elif [ 1 -eq 2 ]; then C=2; else D=3; fi; C2=2; "
              "if [ -f x ]; then C2=2; elif [ 1 -eq 1 ]; then C2=2; else C2=3; fi\n"
              "if [ 1 -eq 1 ]; then E=1; elif [ -n \"${F:=2}\" ]; then E=2; fi\n"
              "G=1; [ -f x ] && G=2; H=1; [ -f x ] && H=1\n"
              "[ -f x ] && : \"${I:=3}\"; J=4; [ -f x ] && : \"${J:=5}\"\n"
              "[ -f x ] && : \"${K}\"; if [ -f x ]; then : ${L=2}; fi\n"
              "if [ -f x ]; then unset G; fi; M=1; unset M; N=1; [ -f x ] && unset N\n"
              "[ -f x ] && { O=1; if [ 1 -eq 1 ]; then P=1; fi; }; Q=1\n"
              "[ -f x ] &&\n\n  R=1\nS=1\n"
              "if [ 1 -eq 1 ] && [ 2 -eq 2 ]; then T=1; fi\n"
              "if [ -f x ] || [ 1 -eq 2 ]; then U=1; fi\n");
    unknown("A", 1);
    unknown("B", 2);
    unknown("C", 3);
    unknown("D", 3);
    is("C2", "2"); /* behind a test that holds no branch runs */
    is("E", "1");
    assert_null(shell_find(&shell, "F")); /* no test behind a branch that is taken is made */
    unknown("G", 8);
    is("H", "1");
    unknown("I", 6);
    is("J", "4");
    assert_null(shell_find(&shell, "K"));
    unknown("L", 7);
    assert_null(shell_find(&shell, "M"));
    unknown("N", 8);
    unknown("O", 9);
    unknown("P", 9);
    is("Q", "1");
    unknown("R", 12);
    is("S", "1");
    is("T", "1");
    unknown("U", 15);
}

/* What is added to text that is not known, or that has a dollar of its own; quotes and brackets. */
static void test_what_is_added(void **state)
{
    read_text("A=$(x); A+=1; B='$C'; B+=1; C=1; C+='$D'; D=a; D+=\"b c\"; E=a\\\\b\n"
              "F=\"a\\b\\\\c\"; G=\"\\$x\\`\"; H=$(()); I=$((7 % 0)); J=$((1/2)); K=$((-7 / 2))\n"
              "L=$(((1)+(2)+(3)+(4)+(5)+(6)+(7)+(8)+(9)+(1)+(2)+(3)+(4)+(5)+(6)+(7)+(8)+(9)))\n"
              "M=${X:-a{b}c}; N=\"${X:-\"a b\"}\"; O=\"$'x'\"\n");
    unknown("A", 1);
    unknown("B", 1);
    is("C", "1$D");
    is("D", "ab c");
    is("E", "a\\b");
    is("F", "a\\b\\c");
    is("G", "$x`");
    unknown("I", 2);
    is("J", "0");
    is("K", "-3"); /* towards 0, as C has it */
    is("L", "90");
}

/* Loops, functions, subshells, cases, here-documents. */
static void test_blocks(void **state)
{
    read_text("for i in 1 2; do A=$i; done\n"
              "f() {\n  B=1\n}\ng ()\n{\n  C=1\n}\nfunction h { D=1; }\n"
              "( umask 0002; E=1; mkdir -p x )\n(cd x && F=1)\n(true; true)\n"
              "case $X in\n  a) G=1;;\n  b|c)\n    H=1 ;;\nesac\n"
              "{ I=1; }\n[ -d x ] || { J=1; exit 1; }\n"
              "cat <<EOF >y\nK=1\nif\nEOF\ncat <<-'END'\n\tL=1\n\tEND\n"
              "while [ -d x ] && true; do M=1; done\n((N = 5))\nO=1\n"
              "case $X in a) P=1;; esac\n"
              "Q=1; select Q in a b; do R=1; done; S=1; until S=2; do T=1; done\n"
              "((V = 1)); W=2; (( X = 3 )); Y=4\n"
              "((V = 1 + (2)))\nsleep 1 &I1=1\ngrep x <<<\"$Z\"\nA1=1\ncat << END\nB1=1\nEND\ncat "
              "<<- 'END2'\nC1=1\n\tEND2\nD1=1\n"
              "for i in a; do E1=1; done & F1=1 | G1=1\nfor ((i = 0; i < 3; i++)); do H1=1; done\n"
              "cat <<EOF\nU=1\n");
    unknown("A", 1);
    unknown("B", 3);
    unknown("C", 7);
    unknown("D", 9);
    assert_null(shell_find(&shell, "E"));
    assert_null(shell_find(&shell, "F"));
    unknown("G", 14);
    unknown("H", 16);
    is("I", "1");
    unknown("J", 19);
    assert_null(shell_find(&shell, "K"));
    assert_null(shell_find(&shell, "L"));
    unknown("M", 27);
    is("O", "1");
    unknown("P", 30);
    unknown("Q", 31);
    unknown("S", 31);
    assert_null(shell_find(&shell, "U")); /* of a document that is cut */
    assert_null(shell_find(&shell, "V"));
    is("W", "2");
    is("Y", "4");
    is("A1", "1"); /* a string that is given is no document */
    assert_null(shell_find(&shell, "B1"));
    assert_null(shell_find(&shell, "C1"));
    is("D1", "1");
    is("I1", "1");
    unknown("E1", 44);
    unknown("H1", 45);
}

static void test_sources(void **state)
{
    read_text("source $(dirname ${BASH_SOURCE[0]})/config_common.sh\n. ./config_fp8.sh\n"
              "source $(dirname ${BASH_SOURCE[0]})/config_common.sh\nsource /etc/passwd\n"
              "source $HERE/../config_up.sh\nsource ../config_up.sh\nsource $HERE/${NAME}.sh\n");
    assert_int_equal(shell.missing_count, 6);
    assert_string_equal(shell.missing[3], "config_up.sh"); /* behind the last slash */
    assert_string_equal(shell.missing[4], "../config_up.sh");
    assert_string_equal(shell.missing[5], "$HERE/${NAME}.sh");
    assert_string_equal(shell.missing[0], "config_common.sh");
    assert_string_equal(shell.missing[1], "./config_fp8.sh");
    assert_string_equal(shell.missing[2], "/etc/passwd");
}

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* Where it stands: before it the common one wins, behind it what is set there. */
static void test_a_file_sources_another(void **state)
{
    struct error error = {""};
    write_file("shell_common.sh", "export A=common B=common\n");
    write_file("shell_own.sh", "export A=own\nsource $(dirname ${BASH_SOURCE[0]})/shell_common.sh\n"
                               "export B=own\nsource shell_gone.sh\n");
    write_file("shell_loop.sh", "source ./shell_loop.sh\n");
    write_file("shell_perhaps.sh", "[ -f x ] && source shell_common.sh\nsource /etc/hostname\n"
                                   "source ../import/shell_common.sh\n");
    assert_true(shell_read(arena, "shell_perhaps.sh", &shell, &error));
    unknown("A", 1);
    assert_int_equal(shell.file_count, 2); /* a path of the whole machine, or up, is not read */
    assert_int_equal(shell.missing_count, 2);
    for (unsigned i = 0; i < 12; i++) { /* each by the one before it: eight deep */
        char name[32], text[64];
        snprintf(name, sizeof name, "shell_deep%u.sh", i);
        snprintf(text, sizeof text, "D%u=1\n%ssource shell_deep%u.sh\n", i, i == 7 ? "# " : "",
                 i + 1);
        write_file(name, text);
    }
    assert_true(shell_read(arena, "shell_deep0.sh", &shell, &error));
    is("D7", "1");
    write_file("shell_deep7.sh", "source shell_deep8.sh\n");
    assert_false(shell_read(arena, "shell_deep0.sh", &shell, &error));
    assert_non_null(strstr(error.text, "shell_deep8.sh: it is sourced by what it sources"));
    for (unsigned i = 0; i < 12; i++) {
        char name[32];
        snprintf(name, sizeof name, "shell_deep%u.sh", i);
        remove(name);
    }
    assert_true(shell_read(arena, "shell_own.sh", &shell, &error));
    is("A", "common");
    is("B", "own");
    assert_int_equal(shell.file_count, 2);
    assert_int_equal(shell.missing_count, 1);
    assert_non_null(strstr(shell_find(&shell, "A")->path, "shell_common.sh"));
    assert_false(shell_read(arena, "shell_loop.sh", &shell, &error));
    assert_non_null(strstr(error.text, "sourced by what it sources"));
    assert_false(shell_read(arena, "shell_gone.sh", &shell, &error));
    remove("shell_common.sh");
    remove("shell_own.sh");
    remove("shell_loop.sh");
    remove("shell_perhaps.sh");
}

static void test_refusals(void **state)
{
    refused("A=1\nB=\"open\nC=2\n", "config.sh:2: what opens here is not closed by \"");
    refused("A=$((1\n", "config.sh:1: what opens here is not closed by )");
    refused("if [ 1 -eq 1 ]; then\nA=1\n", "config.sh:1: what begins here has no `fi`");
    refused("A=1\nfi\n", "config.sh:2: `fi` ends nothing");
    refused("if [ 1 -eq 1 ]; fi x\nfi\n", "config.sh:2: `fi` ends nothing");
    refused("for i in 1; do\nfi\n", "config.sh:2: `fi` ends nothing");
    refused("M=3\nif [[ $((M % 2)) != 0 ]]; then\n  echo no\n  exit 1\nfi\n",
            "config.sh:4: the configuration ends itself here");
    refused("A=1\nB=\x01", "config.sh:2: a control character (0x01)");
    refused("", "config.sh: the file is empty");
    char *deep = arena_alloc(arena, 200, 1);
    for (unsigned i = 0; i < 60; i++)
        memcpy(deep + 2 * i, "${", 2);
    refused(deep, "nested");
}

/* Values that double with each line end in a sentence, not in memory. */
static void test_growth(void **state)
{
    char *text = arena_alloc(arena, 1 << 12, 1);
    strcat(text, "A=aaaaaaaaaaaaaaaa\n");
    for (unsigned i = 0; i < 60; i++)
        strcat(text, "A=\"$A$A\"\n");
    refused(text, "grow past 16 MiB");
}

static int begin(void **state)
{
    arena = arena_create();
    return 0;
}

static int end(void **state)
{
    arena_destroy(arena);
    return 0;
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(test_assignments),     TEST(test_parameters),
        TEST(test_integers),        TEST(test_branches),
        TEST(test_forms_of_a_test), TEST(test_what_perhaps_runs),
        TEST(test_what_is_added),   TEST(test_blocks),
        TEST(test_sources),         TEST(test_a_file_sources_another),
        TEST(test_refusals),        TEST(test_growth)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
