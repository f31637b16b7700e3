# Compiler flags for every floor. The same scenario must give the same bytes on gcc and clang at any
# optimisation level: no contraction, no value-changing maths, no folding of libm calls.
add_library(orrery_flags INTERFACE)
target_compile_definitions(orrery_flags INTERFACE _GNU_SOURCE)
if(ORRERY_SHARED OR ORRERY_MUTATION)
  set(ORRERY_LIBRARY_KIND SHARED)
  set(CMAKE_LINK_DEPENDS_NO_SHARED ON)
else()
  set(ORRERY_LIBRARY_KIND STATIC)
endif()
# Faults planted by tests/mutation leave unused things behind; only what mixes up types must not build (-w would let it).
if(ORRERY_MUTATION)
  target_compile_options(orrery_flags INTERFACE -Werror=incompatible-pointer-types -Werror=int-conversion
    -Werror=implicit-function-declaration)
else()
  target_compile_options(orrery_flags INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wswitch-enum
    $<$<BOOL:${ORRERY_WERROR}>:-Werror>)
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

# orrery_whole(TARGET): gcc sees this program whole when it links it, which makes a search a sixth faster. Objects
# hold machine code as well, so that tests, which are many, are linked without.
if(ORRERY_WHOLE_PROGRAM AND CMAKE_C_COMPILER_ID STREQUAL GNU AND CMAKE_BUILD_TYPE STREQUAL Release
    AND NOT ORRERY_SANITIZE AND NOT ORRERY_COVERAGE AND NOT ORRERY_SHARED AND NOT ORRERY_MUTATION)
  target_compile_options(orrery_flags INTERFACE -flto -ffat-lto-objects)
  target_link_options(orrery_flags INTERFACE $<IF:$<BOOL:$<TARGET_PROPERTY:ORRERY_WHOLE>>,-flto=auto,-fno-lto>)
endif()
function(orrery_whole target)
  set_target_properties(${target} PROPERTIES ORRERY_WHOLE ON)
endfunction()

# orrery_wing(SOURCES... USES WING... LIBRARIES...): one library for each folder of a floor, named by its
# path (orrery_models_step), with an include root that shows this folder and nothing else. A wing
# finds the headers of those it uses, and of those that they use; any other include does not build.
function(orrery_wing)
  cmake_parse_arguments(WING "" "" "SOURCES;USES;LIBRARIES" ${ARGN})
  file(RELATIVE_PATH path ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  string(REPLACE "/" "_" name ${path})
  set(root ${CMAKE_BINARY_DIR}/include/${name})
  get_filename_component(parent ${root}/${path} DIRECTORY)
  file(MAKE_DIRECTORY ${parent})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${root}/${path} SYMBOLIC)
  string(REPLACE "/" "_" below "${WING_USES}")
  list(TRANSFORM below PREPEND orrery_)
  add_library(orrery_${name} ${ORRERY_LIBRARY_KIND} ${WING_SOURCES})
  target_include_directories(orrery_${name} PUBLIC ${root})
  target_link_libraries(orrery_${name} PUBLIC orrery_flags ${below} PRIVATE ${WING_LIBRARIES})
endfunction()

# orrery_floor(NAME WINGS... BELOW FLOOR): the wings of a floor, from the lowest up; orrery_NAME is all
# of them and what lies below, for programs.
function(orrery_floor name)
  cmake_parse_arguments(FLOOR "" "BELOW" "WINGS" ${ARGN})
  add_library(orrery_${name} INTERFACE)
  foreach(wing IN LISTS FLOOR_WINGS)
    add_subdirectory(${wing})
    string(REPLACE "/" "_" library ${name}_${wing})
    target_link_libraries(orrery_${name} INTERFACE orrery_${library})
  endforeach()
  target_link_libraries(orrery_${name} INTERFACE ${FLOOR_BELOW})
endfunction()
