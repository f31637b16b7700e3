# tests/tidy tells of each rule that it knows: every fault below is planted alone into a small tree
# that keeps all of them.
# A launcher of several Pythons takes a second to find its own, and each of some sixty runs starts four.
setup_file() {
    PATH=$(python3 -c 'import os, sys; print(os.path.dirname(sys.executable))'):$PATH
    export PATH
}

setup() {
    cd "$BATS_TEST_TMPDIR" || exit 1
    mkdir -p sim topology models scenarios analysis tests docs
    cp "$PROJECT/.clang-format" .
    printf '# The little project\n' >README.md
    printf '/* a.h - twice. */\n#ifndef A_H\n#define A_H\nint a_twice(int x);\n#endif\n' >sim/a.h
    printf '#include "sim/a.h"\n\nint a_twice(int x)\n{\n    return 2 * x;\n}\n' >sim/a.c
    printf '/* b.h - thrice. */\n#ifndef B_H\n#define B_H\nint b_thrice(int x);\n#endif\n' >models/b.h
    printf '#include "models/b.h"\n#include "sim/a.h"\n\nint b_thrice(int x)\n{\n    return a_twice(x) + x;\n}\n' >models/b.c
    printf '#include "models/b.h"\n\nint main(void)\n{\n    return b_thrice(0);\n}\n' >tests/use.c
    printf 'a.c\n' >sim/CMakeLists.txt
    printf 'b.c\n' >models/CMakeLists.txt
}

tells() { # rule, what it names
    run "$PROJECT/tests/tidy" .
    [ "$status" -eq 1 ] || { echo "exit code $status"; echo "$output"; return 1; }
    [[ "$output" == *"$1: "*"$2"* ]] || { echo "not told: $1 ... $2"; echo "$output"; return 1; }
    [[ "$output" =~ [1-9][0-9]*\ places\ break\ a\ rule$ ]] || { echo "$output"; return 1; }
}
function_of() { # lines of body
    printf '\nint long_one(void)\n{\n'
    for ((i = 0; i < $1; i++)); do printf '    a_twice(%d);\n' "$i"; done
    printf '}\n'
}

@test "a denial in a test that goes on after it" {
    printf '@test "x" {\n    ! grep -q a file\n    true\n}\n' >tests/x.bats
    tells "a denial that cannot fail (add || false)" "tests/x.bats:2"
    printf '@test "x" {\n    ! grep -q a file || false\n    true\n}\n' >tests/x.bats
    run "$PROJECT/tests/tidy" .
    [ "$status" -eq 0 ]
}

@test "a tree that keeps the rules" {
    run "$PROJECT/tests/tidy" .
    echo "$output"
    [ "$status" -eq 0 ]
    [[ "$output" == *"0 places break a rule" ]]
}
@test "a folder without sources is no success" {
    mkdir empty
    run "$PROJECT/tests/tidy" empty
    [ "$status" -eq 2 ]
}
@test "a struct of many members" {
    mkdir -p analysis/command
    { printf '/* c.h - a bag. */\n#ifndef C_H\n#define C_H\nstruct c_bag {\n'; for i in a b c d e f g h i j k; do echo "    int m_$i, n_$i[2];"; done; printf '};\n#endif\n'; } >analysis/command/c.h
    tells "struct of too many members" "struct c_bag: 22"
    # What is nested counts once, and is held to the same.
    sed -i -e 's/^struct c_bag {/&\n    union {/' -e 's/^};/    } in;\n    int more;\n};/' analysis/command/c.h
    tells "struct of too many members" "struct without a tag: 22"
    [[ "$output" != *c_bag* ]]
    sed -i '/ m_k, /d' analysis/command/c.h
    run "$PROJECT/tests/tidy" .
    [[ "$output" != *"struct of too many members"* ]]
}
@test "a wing that begins with code" {
    printf 'orrery_wing(SOURCES a.c)\n' >sim/CMakeLists.txt
    tells "wing without a line that says what it is for" sim/CMakeLists.txt
}
@test "long lines" {
    printf '/* %s */\n' "$(printf 'x%.0s' {1..95})" >>sim/a.c
    tells "line over 100 characters" "sim/a.c:7"
}
@test "long files" {
    for ((i = 0; i < 500; i++)); do echo; done >>sim/a.h
    run "$PROJECT/tests/tidy" .
    [[ "$output" == *"file over 500 lines: sim/a.h: 505"* ]]
}
@test "rates of wires that topology_wire gives" {
    for told in node.nvlink.bytes_per_s 'fabric->nic_bytes_per_s' c.cluster.fabric.nics; do
        printf '/* b.h - thrice. */\n#ifndef B_H\n#define B_H\n/* %s */\nint b_thrice(int x);\n#endif\n' "$told" >models/b.h
        tells "a wire's rate is asked of topology_wire" "models/b.h:4"
    done
}
@test "functions of 70 lines pass, of 71 do not" {
    function_of 70 >>sim/a.c
    run "$PROJECT/tests/tidy" .
    [ "$status" -eq 0 ]
    function_of 71 | sed s/long_one/longer_one/ >>sim/a.c
    tells "function over 70 lines" "longer_one"
}
@test "functions of six parameters pass, of seven do not" {
    printf '\nint wide(int a, int (*b)(int, int), int c, int d, int e, int f)\n{\n    return a + b(c, d) + e + f;\n}\n' >>sim/a.c
    run "$PROJECT/tests/tidy" .
    echo "$output"
    [ "$status" -eq 0 ]
    sed -i 's/int e, int f)/int e, int f, int g)/' sim/a.c
    tells "function takes more than six parameters" "sim/a.c:8: 7"
}
@test "a default: in a switch over an enum" {
    printf 'int a_of(int x)\n{\n    switch (%s) {\n    case %s:\n        return 1;\n    default:\n        return 2;\n    }\n}\n' x A_ONE >>sim/a.c
    tells "default: in a switch over names" "sim/a.c:12"
    sed -i 's/switch (x)/switch ((int)x)/' sim/a.c
    run "$PROJECT/tests/tidy" .
    [[ "$output" != *"switch over names"* ]]
    sed -i -e 's/switch ((int)x)/switch (x)/' -e "s/A_ONE/'a'/" sim/a.c
    run "$PROJECT/tests/tidy" .
    [[ "$output" != *"switch over names"* ]]
}
@test "tabs and trailing space" {
    printf '/* x */ \n' >>sim/a.c
    run "$PROJECT/tests/tidy" .
    [[ "$output" == *"tab or trailing space: sim/a.c:7"* ]]
}
@test "an include that points up" {
    printf '#include "models/b.h"\n' >sim/c.h
    sed -i '1i /* c.h - up. */' sim/c.h
    sed -i '1i #include "sim/c.h"' sim/a.c
    tells "sim includes what stands above it" "sim/c.h"
}
@test "a circle of headers" {
    printf '/* c.h - round. */\n#include "models/d.h"\n' >models/c.h
    printf '/* d.h - round. */\n#include "models/c.h"\n' >models/d.h
    run "$PROJECT/tests/tidy" .
    [ "$status" -eq 1 ]
    [[ "$output" == *"include circle: models/c"* ]]
}
@test "an inline function that calls a file above it" {
    printf '/* a_state.h - shared. */\nint above(int x);\nstatic inline int below(int x)\n{\n    return above(x);\n}\n' \
        >sim/a_state.h
    sed -i '1i #include "sim/a_state.h"' sim/a.c
    tells "inline function calls a file above it" "sim/a_state.h:5: above()"
}
@test "a circle of folders, a private header abroad" {
    mkdir -p models/one models/two
    printf '/* x.h - one. */\n#include "models/two/y.h"\n' >models/one/x.h
    printf '/* y.h - two. */\nint y(void);\n' >models/two/y.h
    sed -i '2i #include "models/one/x.h"' models/b.c
    run "$PROJECT/tests/tidy" .
    echo "$output"
    [ "$status" -eq 0 ]
    printf '/* z.h - two. */\n#include "models/one/w.h"\n' >models/two/z.h
    printf '/* w.h - one. */\nint w(void);\n' >models/one/w.h
    sed -i '3i #include "models/two/z.h"' models/b.c
    tells "wings" "circle of wings: models/one -> models/two -> models/one"
    rm models/two/z.h models/one/w.h
    sed -i 3d models/b.c
    mv models/two/y.h models/two/y_state.h
    sed -i 's/y.h/y_state.h/' models/one/x.h
    tells "wings" "private header abroad: models/one/x.h:2"
}
@test "twenty-one units in a wing, seven levels of them, thirteen levels of wings" {
    mkdir models/w
    for ((i = 1; i <= 20; i++)); do printf '/* x.h - %d. */\nint w_x%d(void);\n' "$i" "$i" >"models/w/x$i.h"; done
    for ((i = 1; i <= 5; i++)); do printf '#include "models/w/x%d.h"\n' $((i + 1)) >>"models/w/x$i.h"; done
    run "$PROJECT/tests/wings"
    [ "$status" -eq 0 ]
    printf '/* x.h - 21. */\nint w_x21(void);\n' >models/w/x21.h
    run "$PROJECT/tests/wings"
    [ "$status" -eq 1 ]
    [ "$output" = "too many units: models/w: 21, at most 20" ]
    rm models/w/x21.h
    printf '#include "models/w/x7.h"\n' >>models/w/x6.h
    run "$PROJECT/tests/wings"
    [ "$output" = "too many levels of units: models/w: 7, at most 6" ]
    rm -r models/w
    for ((i = 1; i <= 13; i++)); do
        mkdir "models/w$i"
        printf '/* x.h - %d. */\n' "$i" >"models/w$i/x.h"
        [ "$i" -eq 1 ] || printf '#include "models/w%d/x.h"\n' $((i - 1)) >>"models/w$i/x.h"
    done
    run "$PROJECT/tests/wings"
    [ "$output" = "too many levels: models: 13, at most 12" ]
}
@test "a page that links to a file that is gone" {
    mkdir -p docs
    printf '[a](b.md) and ![c](d/e.svg), [out](https://x.org/y), [here](#part), [part](b.md#part)\n' >docs/a.md
    mkdir docs/d && touch docs/b.md docs/d/e.svg
    run "$PROJECT/tests/tidy" .
    [ "$status" -eq 0 ]
    rm docs/d/e.svg
    tells "link to nothing" "docs/a.md:1: d/e.svg"
}
@test "an old picture of the folders" {
    "$PROJECT/tests/wings" --graph docs/wings.svg
    run "$PROJECT/tests/tidy" .
    [ "$status" -eq 0 ]
    echo >>docs/wings.svg
    tells "picture is old" "docs/wings.svg"
}
@test "banned calls, but not their names in words or comments" {
    sed -i 's,return 2,/* no strcpy() here */\n    return 2,' sim/a.c
    run "$PROJECT/tests/tidy" .
    [ "$status" -eq 0 ]
    local calls=(strcpy sprintf atoi strtok rand time alloca setjmp) line=5
    sed -i "s/return 2/$(printf '%s(0);\\n    ' "${calls[@]}")return 2/" sim/a.c
    tells "banned" "sim/a.c:6"
    for call in "${calls[@]}"; do
        line=$((line + 1))
        [ "$(sed -n "${line}p" sim/a.c)" = "    $call(0);" ]
        [[ "$output" =~ banned:\ use\ [^:]*:\ sim/a.c:$line$'\n' ]]
    done
}
@test "global state" {
    sed -i '2i static int count = 0;' sim/a.c
    tells "wall clock or global state" "sim/a.c:2"
}
@test "unfinished words" {
    printf '/* TO%s: more */\n' DO >>sim/a.c
    tells "unfinished word" "sim/a.c:7"
}
@test "a third party in a header" {
    sed -i '4i #include <sqlite3.h>' sim/a.h
    run "$PROJECT/tests/tidy" .
    [[ "$output" == *"third-party type in a header: sim/a.h:4"* ]]
}
@test "files written outside their doors" {
    for call in 'fopen("x", "wb")' 'fopen(p, "r+")' 'open(p, O_RDWR)' 'rename(p, q)' 'sqlite3_open(p, &d)' \
        'sqlite3_open_v2(p, &d, SQLITE_OPEN_READWRITE, 0)'; do
        printf '#include "models/b.h"\n#include "sim/a.h"\n\nint b_thrice(int x)\n{\n    %s;\n    return a_twice(x) + x;\n}\n' "$call" >models/b.c
        tells "written outside its doors" "models/b.c:6"
    done
    for call in 'fopen("/dev/null", "w")' 'fopen(p, "rb")' 'sqlite3_open(":memory:", &d)' 'b_rename(p, q)'; do
        printf '#include "models/b.h"\n#include "sim/a.h"\n\nint b_thrice(int x)\n{\n    %s;\n    return a_twice(x) + x;\n}\n' "$call" >models/b.c
        run "$PROJECT/tests/tidy" .
        [[ "$output" != *"written outside its doors"* ]]
    done
}
@test "third parties outside their doors" {
    sed -i '1i #include <sqlite3.h>\n#include <yaml.h>\n#include <uv.h>' models/b.c
    sed -i "1i #include <gsl/gsl_math.h>" sim/a.c
    tells "SQLite outside its doors" "models/b.c"
    [[ "$output" == *"libyaml outside its doors: models/b.c"* ]]
    [[ "$output" == *"libuv outside its doors: models/b.c"* ]]
    [[ "$output" == *"GSL outside its doors: sim/a.c"* ]]
}
@test "threads beside libuv" {
    printf '#include <pthread.h>\n' >>sim/a.c
    tells "threads beside libuv" sim/a.c:7
}
@test "a struct that two files write" {
    struct_of() { # members
        printf '/* s.h - large: s->p2 = 1; */\nstruct large {\n'
        for ((i = 0; i < $1; i++)); do printf '    int m%d;\n' "$i"; done
        printf '    int *p0[2], *p1[2];\n};\n'
    }
    writer_of() { # name, members
        printf '\nvoid %s(struct large *s)\n{\n    *s = (struct large){.p1 = {0}};\n' "$1"
        for ((i = 0; i < $2; i++)); do printf '    s->m%d%s;\n' "$i" "$([ $((i % 2)) = 0 ] && echo ' += 1' || echo ++)"; done
        printf '}\n'
    }
    struct_of 18 >sim/s.h
    { printf '#include "sim/s.h"\n'; writer_of first 18; } >sim/s.c
    { printf '#include "sim/s.h"\n'; writer_of second 15; } >sim/t.c
    printf 's.c\nt.c\n' >>sim/CMakeLists.txt
    run "$PROJECT/tests/tidy" .
    echo "$output"
    [ "$status" -eq 0 ]
    sed -i 's/^}/    --s->p0[1];\n}/' sim/s.c sim/t.c
    tells "several files write" "sim/s.h: struct large: 16 members"
}
@test "unit factors" {
    sed -i 's/2 \* x;/2 * x * 1024 ;/' sim/a.c
    run "$PROJECT/tests/tidy" .
    [[ "$output" == *"unit factor outside sim/units.h: sim/a.c:5"* ]]
}
@test "a header without an opening comment" {
    sed -i 1d sim/a.h
    tells "header without an opening comment" "sim/a.h"
}
@test "dead files" {
    printf 'int c(void);\nint c(void)\n{\n    return 0;\n}\n' >sim/c.c
    tells "source in no CMakeLists.txt" "sim/c.c"
    rm sim/c.c
    printf '/* c.h - unused. */\n' >sim/c.h
    tells "header that nobody includes" "sim/c.h"
}
@test "names of files that are not there" {
    printf '/* The units of a.c (docs/units.md, tests/test_a.c). */\nint a;\n' >sim/u.h
    sed -i '2i #include "sim/u.h"' sim/a.c
    tells "names a file that is not there" "sim/u.h:1: docs/units.md"
    touch docs/units.md
    tells "names a file that is not there" "sim/u.h:1: tests/test_a.c"
    touch tests/test_a.c
    printf 'See `sim/a.c` and `models/gone.c`.\n' >docs/page.md
    tells "names a file that is not there" "docs/page.md:1: models/gone.c"
    [[ "$output" != *"sim/a.c"* ]]
}
@test "a comment whose function is gone" {
    printf '/* Of the file. */\n\n/* Halves it.\n * Twice. */\n\nint b;\n/* Of c. */\nint c;\n' >sim/b.c
    tells "comment over nothing" "sim/b.c:4"
    [[ "$output" != *"sim/b.c:7"* && "$output" != *"sim/b.c:1"* ]]
}
@test "a phrase of no English" {
    mkdir -p docs
    printf 'Every Nth step.\nEach so many-%s step is kept.\n' th >docs/page.md
    tells "phrase that is never right" "docs/page.md:2"
    printf '/* Each so many-%s step. */\nint b; /* every Nth */\nconst char *s = "so "\n    "manie%s step";\n' th th >sim/b.c
    tells "phrase that is never right" "sim/b.c:1"
    [[ "$output" == *"sim/b.c:4"* && "$output" != *"sim/b.c:2"* ]]
}
@test "a table of states that names a function which is gone" {
    sed -i '1i /* a.c\n *\n * IDLE   when it is asked   BUSY [a_twice]\n * BUSY   when it is over    IDLE [b_gone] */' sim/a.c
    tells "no such function" "sim/a.c:4: b_gone"
    [[ "$output" != *": a_twice"* ]]
}
@test "a tag twice, a foreign prefix, a public function that nobody calls" {
    printf '\nstruct thing {\n    int a;\n};\n' | tee -a sim/a.c >>models/b.c
    tells "name" "tag defined twice: thing: sim/a.c models/b.c"
    sed -i '/^struct thing/,$d' sim/a.c models/b.c
    sed -i 's/a_twice/double_it/' sim/a.h sim/a.c models/b.c
    tells "name" "prefix of neither file nor wing: sim/a.h: double_it"
    sed -i 's/double_it/a_twice/' sim/a.h sim/a.c models/b.c
    rm tests/use.c
    tells "name" "public, but used in no other file: models/b.h: b_thrice"
}
@test "a configuration by the default generator" {
    printf 'cmake %s . -B other\n' -S >tests/build
    tells "cmake without -G" tests/build:1
    printf 'cmake %s . -B other -G Ninja\n' -S >tests/build
    run "$PROJECT/tests/tidy" .
    [ "$status" -eq 0 ]
}
@test "paths of a machine" {
    printf 'see /home/me/it\n' >docs/x.md
    tells "path of a machine" "docs/x.md:1"
}
@test "what clang-format would change" {
    command -v clang-format >/dev/null || skip "no clang-format"
    sed -i 's/return 2/return  2/' sim/a.c
    tells "not formatted" "sim/a.c"
}
@test "a median over 15 lines" {
    function_of 16 >sim/a.c
    sed -i '1d' sim/a.c
    rm models/b.c
    printf '' >models/CMakeLists.txt
    sed -i 's/a\.c/a.c/' sim/CMakeLists.txt
    run "$PROJECT/tests/tidy" .
    [[ "$output" == *"median function over 15 lines"* ]]
}
