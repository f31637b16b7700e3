# Target `package`: a Debian package of what cmake/install.cmake lays down, with what dpkg-shlibdeps finds that the
# program needs. Without the tools of dpkg it is an archive. The preset of the same name builds what goes in.
# orrery-calibrate stays out: it is built on the machine that it measures, against that machine's libraries of NVIDIA.
if(ORRERY_LIBRARY_KIND STREQUAL SHARED)
  return()
endif()
set(ORRERY_MAINTAINER "Orrery maintainers <maintainers@users.noreply.a-seed-7968da99.example>" CACHE STRING
  "name and address in packages that are built here")
find_program(DPKG_SHLIBDEPS dpkg-shlibdeps)
find_program(FILE_PROGRAM file)
find_program(GZIP_PROGRAM gzip)
if(DPKG_SHLIBDEPS AND FILE_PROGRAM AND GZIP_PROGRAM)
  set(ORRERY_PACKAGE DEB)
else()
  set(ORRERY_PACKAGE TGZ)
  message(STATUS "dpkg-shlibdeps (dpkg-dev), file or gzip is missing: the target package makes an archive, no Debian package")
endif()
set(CPACK_GENERATOR ${ORRERY_PACKAGE}) # CPack itself sets it to another one in the end
set(CPACK_PACKAGE_NAME orrery)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "${ORRERY_MAINTAINER}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "simulates GPU clusters that train large models")
set(CPACK_INSTALL_CMAKE_PROJECTS "${CMAKE_BINARY_DIR};orrery;orrery;/")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"Before GPU time is paid for, Orrery answers whether a training fits, how
fast it is, what it costs, and how it lives through failures. It simulates
the step of every rank, and weeks of a run, and searches layouts.
.
Scenarios and lessons are in /usr/share/orrery/scenarios.")
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
if(LWS_FOUND) # which loads its event loop by name, so that dpkg-shlibdeps does not see it
  set(CPACK_DEBIAN_PACKAGE_DEPENDS libwebsockets-evlib-uv)
endif()
set(CPACK_DEBIAN_PACKAGE_SUGGESTS sqlite3)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/cmake/debian.cmake)
if(NODE AND NPM) # then the page holds it
  set(CPACK_ORRERY_UPLOT ${CMAKE_BINARY_DIR}/analysis/page/web/node_modules/uplot/LICENSE)
endif()
if(NOT ORRERY_STATIC) # what a static program holds cannot be read from it
  set(CPACK_ORRERY_SBOM ${CMAKE_SOURCE_DIR}/cmake/sbom)
endif()
set(CPACK_ORRERY_SOURCES ${CMAKE_SOURCE_DIR})
set(CPACK_ORRERY_GZIP ${GZIP_PROGRAM})
include(CPack)
