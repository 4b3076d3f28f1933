# The README's first program is examples/hello.cpp, and prints what the README says: cmake -DREADME= -DEXAMPLE= -DPROGRAM= -P
cmake_minimum_required(VERSION 3.25)

# The first block fenced with ```LANGUAGE.
function(first_block language result)
  file(READ ${README} text)
  string(FIND "${text}" "```${language}\n" begin)
  string(LENGTH "```${language}\n" fence)
  math(EXPR begin "${begin} + ${fence}")
  string(SUBSTRING "${text}" ${begin} -1 text)
  string(FIND "${text}" "```" end)
  string(SUBSTRING "${text}" 0 ${end} text)
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

file(READ ${EXAMPLE} program)
first_block(cpp shown)
if(NOT shown STREQUAL program)
  message(FATAL_ERROR "the README's first program is not ${EXAMPLE}")
endif()

execute_process(COMMAND ${PROGRAM} OUTPUT_VARIABLE printed RESULT_VARIABLE result)
first_block(text promised)
if(NOT result EQUAL 0 OR NOT printed STREQUAL promised)
  message(FATAL_ERROR "the README promises\n${promised}\nthe program prints\n${printed}")
endif()
