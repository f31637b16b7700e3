# Run by CPack on the tree that it packs: what Debian's policy asks for beyond `cmake --install` (chapter 12: pages and
# changelog packed without a name or a time, the terms in `copyright`), and zsh's functions where Debian's zsh looks.
if(NOT CPACK_GENERATOR STREQUAL DEB)
  return()
endif()
set(root ${CPACK_TEMPORARY_DIRECTORY}${CPACK_PACKAGING_INSTALL_PREFIX})
set(documents ${root}/share/doc/orrery)
file(RENAME ${root}/share/zsh/site-functions ${root}/share/zsh/vendor-completions)
file(COPY_FILE ${CPACK_ORRERY_SOURCES}/CHANGELOG.md ${documents}/changelog)
file(GLOB pages ${root}/share/man/man1/*.1)
execute_process(COMMAND ${CPACK_ORRERY_GZIP} -9n ${pages} ${documents}/changelog COMMAND_ERROR_IS_FATAL ANY)

set(holders "the contributors of Orrery")
set(license GPL-3+)
if(CPACK_ORRERY_UPLOT) # the page that `orrery replay` serves holds it
  file(READ ${CPACK_ORRERY_UPLOT} terms)
  string(REGEX MATCH "Copyright[^\n]*" holder "${terms}")
  string(REGEX REPLACE "\n+$" "" terms "${terms}")
  string(REPLACE "\n\n" "\n.\n" terms "${terms}")
  string(REPLACE "\n" "\n " terms "${terms}")
  string(APPEND holders "\n ${holder} (uPlot)")
  set(license "GPL-3+ and MIT")
  set(mit "\nLicense: MIT\n ${terms}\n")
endif()
file(WRITE ${documents}/copyright "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Orrery
Upstream-Contact: ${CPACK_PACKAGE_CONTACT}

Files: *
Copyright: the contributors of Orrery
License: Apache-2.0

Files: usr/bin/orrery
Copyright: ${holders}
License: ${license}
Comment: the sources are licensed under the Apache License 2.0; as the program links the GNU Scientific Library, it
 is distributed under the GNU General Public License.

License: Apache-2.0
 The text is in /usr/share/common-licenses/Apache-2.0.

License: GPL-3+
 Version 3 of the GNU General Public License or, at your option, any later version. The text of version 3 is in
 /usr/share/common-licenses/GPL-3.
${mit}")
if(CPACK_ORRERY_SBOM) # of the program as it is packed
  set(held "")
  if(CPACK_ORRERY_UPLOT)
    get_filename_component(held ${CPACK_ORRERY_UPLOT} DIRECTORY)
    string(APPEND held /package.json)
  endif()
  execute_process(COMMAND ${CPACK_ORRERY_SBOM} ${root}/bin/orrery ${held} OUTPUT_FILE ${documents}/orrery.spdx
    COMMAND_ERROR_IS_FATAL ANY)
endif()
file(CHMOD_RECURSE ${root} DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
  WORLD_READ WORLD_EXECUTE)
file(GLOB written ${documents}/*)
file(CHMOD ${written} PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
