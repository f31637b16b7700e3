# tests/mutation/mutate over a project of two files, one of which is not built: what each fault is said to be.
setup() {
    cd "$BATS_TEST_TMPDIR" || exit 1
    mkdir -p sim tests/mutation
    cp "$PROJECT/tests/mutation/mutate" "$PROJECT/tests/mutation/operators.py" tests/mutation
    touch tests/mutation/equivalent.txt
    cat >CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.20)
project(little C)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
enable_testing()
add_executable(test_pause sim/pause.c tests/pause.c)
target_include_directories(test_pause PRIVATE ${CMAKE_SOURCE_DIR})
add_test(NAME pause COMMAND test_pause)
CMAKE
    printf 'enum {\n    PAUSE_COUNT = 3\n};\nunsigned pause_s(void);\nunsigned pause_sum(const unsigned *x);\n' >sim/pause.h
    cat >sim/pause.c <<'C'
#include "sim/pause.h"

unsigned pause_s(void)
{
    return 0;
}

unsigned pause_sum(const unsigned *x)
{
    unsigned sum = 0;
    for (volatile unsigned i = PAUSE_COUNT; i > 0; i--)
        sum += x[i - 1];
    return sum == 7 ? 7 : sum;
}
C
    sed 's/pause/card/g' sim/pause.c >sim/card.c
    sed 's/pause/card/g' sim/pause.h >sim/card.h
    cat >tests/pause.c <<'C'
#include <unistd.h>

#include "sim/pause.h"

int main(void)
{
    const unsigned x[PAUSE_COUNT] = {1, 2, 3};
    sleep(1000 * pause_s());
    return pause_sum(x) == 6 ? 0 : 1;
}
C
    git init -q . && git add -A
}

@test "noticed, survived, endless, out of time, not built: only the first three count" {
    cat >list <<'LIST'
sim/pause.c|12|assignment|sum += x[i - 1];|sum -= x[i - 1];
sim/pause.c|13|constant|return sum == 7 ? 7 : sum;|return sum == 7 ? 8 : sum;
sim/pause.c|11|step|for (volatile unsigned i = PAUSE_COUNT; i > 0; i--)|for (volatile unsigned i = PAUSE_COUNT; i > 0; i += 0)
sim/pause.c|5|constant|return 0;|return 1;
sim/card.c|5|constant|return 0;|return 1;
sim/card.h|2|constant|PAUSE_COUNT = 3|PAUSE_COUNT = 4
sim/pause.h|2|constant|PAUSE_COUNT = 3|PAUSE_COUNT = 2
LIST
    run tests/mutation/mutate build --tests . --replay list
    echo "$output"
    [ "$status" -eq 1 ]
    grep -q '^killed by pause .*sum -= x' <<<"$output"
    grep -q '^killed by pause .*i += 0' <<<"$output"
    grep -q '^killed by pause .*pause.h.*= 2$' <<<"$output"
    grep -q '^survived .*7 ? 8' <<<"$output"
    [ "$(grep -c '^no verdict: pause ran out of time sim/pause.c|5|' <<<"$output")" -eq 1 ]
    grep -q '^3 of 4 faults noticed, 75.0 %' <<<"$output"
    [ "$(grep -c "^not built.sim/card\.[ch]|" build/looked.txt)" -eq 2 ]
}
