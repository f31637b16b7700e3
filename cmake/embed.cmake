# orrery_embed(TARGET HEADER SYMBOL FILE...): the text of the files, joined, as a char array in a
# generated header, included by its path HEADER. Run by `cmake -P` at build time, so that an edited file is embedded again.
if(CMAKE_SCRIPT_MODE_FILE)
  set(text "")
  foreach(file ${FILES})
    file(READ ${file} part HEX)
    string(APPEND text "${part}")
  endforeach()
  string(REGEX REPLACE "(................................)" "\\1\n" text "${text}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," text "${text}")
  file(WRITE ${OUTPUT} "static const char ${SYMBOL}[] = {\n${text}0x00};\n")
  return()
endif()

set(ORRERY_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
function(orrery_embed target header symbol)
  set(output ${CMAKE_BINARY_DIR}/generated/${header})
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} "-DFILES=${ARGN}" -DOUTPUT=${output} -DSYMBOL=${symbol}
            -P ${ORRERY_EMBED_SCRIPT}
    DEPENDS ${ARGN} ${ORRERY_EMBED_SCRIPT} VERBATIM)
  target_sources(${target} PRIVATE ${output})
  target_include_directories(${target} PRIVATE ${CMAKE_BINARY_DIR}/generated)
endfunction()
