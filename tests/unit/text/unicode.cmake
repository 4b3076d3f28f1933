# The Unicode database (Debian: package unicode-data), whose test files the text module is checked against where they
# are installed. NormalizationTest.txt comes packed.
set(QUARRY_UNICODE_DIR /usr/share/unicode CACHE PATH "The Unicode character database, for tests")
find_program(QUARRY_BZCAT NAMES bzcat)
set(normalization_test ${QUARRY_UNICODE_DIR}/NormalizationTest.txt)
if(NOT EXISTS ${normalization_test})
  set(normalization_test ${CMAKE_CURRENT_BINARY_DIR}/NormalizationTest.txt)
  if(QUARRY_BZCAT AND EXISTS ${QUARRY_UNICODE_DIR}/NormalizationTest.txt.bz2)
    execute_process(COMMAND ${QUARRY_BZCAT} ${QUARRY_UNICODE_DIR}/NormalizationTest.txt.bz2
      OUTPUT_FILE ${normalization_test} COMMAND_ERROR_IS_FATAL ANY)
  endif()
endif()
target_compile_definitions(test_text PRIVATE QUARRY_UNICODE_DIR="${QUARRY_UNICODE_DIR}"
  QUARRY_NORMALIZATION_TEST="${normalization_test}")

# The tables are what the script makes of the database of the same version.
find_package(Python3 COMPONENTS Interpreter QUIET)
if(Python3_FOUND AND EXISTS ${QUARRY_UNICODE_DIR}/DerivedNormalizationProps.txt)
  file(STRINGS ${QUARRY_UNICODE_DIR}/DerivedNormalizationProps.txt first LIMIT_COUNT 1)
  file(STRINGS ${PROJECT_SOURCE_DIR}/include/quarry/text/unicode_tables.hpp version REGEX "unicode_version =")
  string(REGEX REPLACE ".*\"(.*)\".*" "\\1" version "${version}")
  if(first MATCHES "-${version}\\.txt")
    add_test(NAME unicode_tables COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/unicode_tables.py
      --ucd ${QUARRY_UNICODE_DIR} --check)
    set_tests_properties(unicode_tables PROPERTIES TIMEOUT 120)
  endif()
endif()
