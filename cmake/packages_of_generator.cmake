# SPDX-License-Identifier: MIT
# packages_of_generator.cmake - read by CPack for each kind of package: what is in it
if(CPACK_GENERATOR STREQUAL DEB)
	set(CPACK_COMPONENTS_ALL runtime program debian dev debian_dev)
	set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
	set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
else()
	set(CPACK_COMPONENTS_ALL runtime ${CPACK_RTL_ARCHIVE_PROGRAM} plain dev)
	set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
	# the folder in it has the name of the file
	set(CPACK_PACKAGE_FILE_NAME ${CPACK_ARCHIVE_FILE_NAME})
	set(CPACK_INCLUDE_TOPLEVEL_DIRECTORY ON)
	set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY ON)
	set(CPACK_PACKAGING_INSTALL_PREFIX /)
endif()
