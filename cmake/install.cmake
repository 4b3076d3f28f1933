# find_package(quarry CONFIG) after `cmake --install`.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS quarry EXPORT quarry_targets FILE_SET HEADERS)
install(EXPORT quarry_targets NAMESPACE quarry:: DESTINATION ${CMAKE_INSTALL_DATADIR}/cmake/quarry FILE quarry-targets.cmake)
set(QUARRY_HAS_JSON ${nlohmann_json_FOUND})
configure_package_config_file(cmake/quarry-config.cmake.in quarry-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_DATADIR}/cmake/quarry)
write_basic_package_version_file(quarry-config-version.cmake COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/quarry-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/quarry-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_DATADIR}/cmake/quarry)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
