# A program that asks a server asks as told, uses the reply, and says what went wrong: cmake -DPROGRAM= -DSCRATCH= -P
#
# The server is a program called `curl`, found first: it keeps what it was told, answers the first request, refuses the
# second and answers the third without a reply in it.
cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE ${SCRATCH})
file(WRITE ${SCRATCH}/curl [=[#!/bin/sh
echo "$*" >> "$0.arguments"
echo call >> "$0.calls"
cat >> "$0.told"
case $(wc -l < "$0.calls") in
*1) echo '{"choices": [{"message": {"content": "What \"ACME\" sold in spring."}}], "usage": {"prompt_tokens": 9}}' ;;
*2) echo 'no credit left'; exit 22 ;;
*) echo '{}' ;;
esac
]=])
file(CHMOD ${SCRATCH}/curl PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
set(ENV{PATH} "${SCRATCH}:$ENV{PATH}")
set(ENV{QUARRY_SERVER_URL} http://server.test/v1)
set(ENV{QUARRY_SERVER_MODEL} small)
set(ENV{QUARRY_SERVER_KEY} "secret \"key\"")
execute_process(COMMAND ${PROGRAM} OUTPUT_VARIABLE out ERROR_VARIABLE err RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM}: status ${status}\n${out}${err}")
endif()

function(require text phrase)
  string(FIND "${text}" "${phrase}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "\"${phrase}\" is missing in\n${text}")
  endif()
endfunction()
require("${out}" "failed: 2 (curl failed: no credit left")
file(READ ${SCRATCH}/curl.told told)
require("${told}" "url = \"http://server.test/v1/chat/completions\"")
require("${told}" "header = \"Authorization: Bearer secret \\\"key\\\"\"")
require("${told}" "\\\"model\\\":\\\"small\\\"")
require("${told}" "Revenue grew by 3 percent")
file(READ ${SCRATCH}/curl.arguments arguments)
string(REGEX MATCH "[^\n]*" first "${arguments}")
if(NOT first STREQUAL "--config -")
  message(FATAL_ERROR "curl was called with ${first}")
endif()
