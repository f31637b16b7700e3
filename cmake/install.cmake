# What `cmake --install` lays down, in the usual folders below the prefix: the programs; what the program
# writes of itself (manual pages by scdoc, completion, the JSON Schemas of scenarios and of documents), made anew with it; the
# scenarios and lessons that ship; the terms. A build of shared wings is for the loop of edit and test.
if(ORRERY_LIBRARY_KIND STREQUAL SHARED)
  install(CODE "message(FATAL_ERROR \"a build with ORRERY_SHARED is not installed: take the preset release\")")
  return()
endif()
include(GNUInstallDirs)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME orrery)
install(TARGETS orrery)
install(TARGETS orrery-calibrate COMPONENT calibrate)

set(written ${CMAKE_BINARY_DIR}/installed)
# The documents that have a schema: the names of contract_list.h.
set(contracts ${CMAKE_SOURCE_DIR}/analysis/tell/contract/contract_list.h)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${contracts})
file(READ ${contracts} names)
string(REGEX MATCHALL "X\\([a-z_]+, \"[a-z-]+" names "${names}")
list(TRANSFORM names REPLACE ".*\"" "")
set(schemas)
foreach(name ${names})
  list(APPEND schemas ${written}/${name}.schema.json)
  add_custom_command(OUTPUT ${written}/${name}.schema.json
    COMMAND ${CMAKE_COMMAND} -E make_directory ${written}
    COMMAND orrery schema --of ${name} > ${written}/${name}.schema.json
    DEPENDS orrery VERBATIM)
endforeach()
add_custom_target(schemas ALL DEPENDS ${schemas})
set(told ${written}/orrery.bash ${written}/_orrery ${written}/orrery.fish ${written}/orrery.schema.json)
add_custom_command(OUTPUT ${told}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${written}
  COMMAND orrery completion bash > ${written}/orrery.bash
  COMMAND orrery completion zsh > ${written}/_orrery
  COMMAND orrery completion fish > ${written}/orrery.fish
  COMMAND orrery schema > ${written}/orrery.schema.json
  DEPENDS orrery VERBATIM)
add_custom_target(completions ALL DEPENDS ${told})
install(FILES ${written}/orrery.bash RENAME orrery DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${written}/_orrery DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${written}/orrery.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES ${written}/orrery.schema.json ${schemas}
  DESTINATION ${CMAKE_INSTALL_DATADIR}/orrery/schema)

find_program(SCDOC scdoc)
if(SCDOC)
  add_custom_command(OUTPUT ${written}/man.stamp
    COMMAND ${CMAKE_SOURCE_DIR}/docs/man --all ${written}/man $<TARGET_FILE:orrery> $<TARGET_FILE:orrery-calibrate>
    COMMAND ${CMAKE_COMMAND} -E touch ${written}/man.stamp
    DEPENDS orrery orrery-calibrate ${CMAKE_SOURCE_DIR}/docs/man VERBATIM)
  add_custom_target(man ALL DEPENDS ${written}/man.stamp)
  install(DIRECTORY ${written}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 PATTERN orrery-calibrate.1 EXCLUDE)
  install(FILES ${written}/man/orrery-calibrate.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT calibrate)
else()
  message(STATUS "scdoc is missing: no manual pages are written or installed")
endif()

file(GLOB scenarios CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/scenarios/*.yaml)
install(FILES ${scenarios} DESTINATION ${CMAKE_INSTALL_DATADIR}/orrery/scenarios)
foreach(folder step memory weeks studies lessons)
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/scenarios/${folder} DESTINATION ${CMAKE_INSTALL_DATADIR}/orrery/scenarios
    FILES_MATCHING PATTERN *.yaml)
endforeach()
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE ${CMAKE_SOURCE_DIR}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
