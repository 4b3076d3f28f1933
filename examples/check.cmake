# Runs an example and compares what it prints: cmake -DPROGRAM= -DARGUMENT= -DEXPECTED= -DPHRASES=a|b -P
#
# EXPECTED is a file with the whole output; PHRASES are parts of it, where the rest may change.
cmake_minimum_required(VERSION 3.25)

execute_process(COMMAND ${PROGRAM} ${ARGUMENT} OUTPUT_VARIABLE out ERROR_VARIABLE err RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM}: status ${status}\n${out}${err}")
endif()
if(EXPECTED)
  file(READ ${EXPECTED} wanted)
  if(NOT out STREQUAL wanted)
    message(FATAL_ERROR "printed\n${out}\nbut ${EXPECTED} is\n${wanted}")
  endif()
endif()
string(REPLACE "|" ";" phrases "${PHRASES}")
foreach(phrase IN LISTS phrases)
  string(FIND "${out}" "${phrase}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "\"${phrase}\" is missing in\n${out}")
  endif()
endforeach()
