# Compiler flags for every floor. The same scenario must give the same bytes on gcc and clang at any
# optimisation level: no contraction, no value-changing maths, no folding of libm calls.
add_library(orrery_flags INTERFACE)
target_include_directories(orrery_flags INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_definitions(orrery_flags INTERFACE _GNU_SOURCE)
# Faults planted by tests/mutation leave unused things behind; only what mixes up types must not build.
if(ORRERY_MUTATION)
  set(ORRERY_LIBRARY_KIND SHARED)
  set(CMAKE_LINK_DEPENDS_NO_SHARED ON)
  target_compile_options(orrery_flags INTERFACE -w -Werror=incompatible-pointer-types -Werror=int-conversion
    -Werror=implicit-function-declaration)
else()
  set(ORRERY_LIBRARY_KIND STATIC)
  target_compile_options(orrery_flags INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)
endif()
target_compile_options(orrery_flags INTERFACE
  -ffp-contract=off -fno-fast-math
  -fno-builtin-log -fno-builtin-log2 -fno-builtin-exp -fno-builtin-exp2 -fno-builtin-pow
  -fno-builtin-cbrt -fno-builtin-log10 -fno-builtin-log1p -fno-builtin-expm1)
if(ORRERY_SANITIZE)
  target_compile_options(orrery_flags INTERFACE -fsanitize=${ORRERY_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  target_link_options(orrery_flags INTERFACE -fsanitize=${ORRERY_SANITIZE})
endif()
if(ORRERY_FUZZ)
  target_compile_options(orrery_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(ORRERY_COVERAGE)
  target_compile_options(orrery_flags INTERFACE --coverage)
  target_link_options(orrery_flags INTERFACE --coverage)
endif()
if(ORRERY_POISON)
  target_compile_definitions(orrery_flags INTERFACE ORRERY_POISON)
endif()
target_link_libraries(orrery_flags INTERFACE m)

# orrery_floor(NAME DEPENDS... ): one static library for each folder, linked bottom-up.
function(orrery_floor name)
  cmake_parse_arguments(FLOOR "" "" "SOURCES;BELOW;LIBRARIES" ${ARGN})
  add_library(orrery_${name} ${ORRERY_LIBRARY_KIND} ${FLOOR_SOURCES})
  target_link_libraries(orrery_${name} PUBLIC orrery_flags ${FLOOR_BELOW} PRIVATE ${FLOOR_LIBRARIES})
endfunction()
