# The tour prints what is committed, reads a stranger's folder, and says clearly what it cannot do:
# cmake -DPROGRAM= -DEXPECTED= -DSCRATCH= -P
cmake_minimum_required(VERSION 3.25)

# Runs the program; `expected` is the exit status, ANSWER and COMPLAINT what it printed.
function(run expected)
  execute_process(COMMAND ${PROGRAM} ${ARGN} OUTPUT_VARIABLE out ERROR_VARIABLE err RESULT_VARIABLE status
    INPUT_FILE ${SCRATCH}/questions.txt)
  if(NOT status EQUAL expected)
    message(FATAL_ERROR "quarry_tour ${ARGN}: exit status ${status}, expected ${expected}\n${out}${err}")
  endif()
  set(ANSWER "${out}" PARENT_SCOPE)
  set(COMPLAINT "${err}" PARENT_SCOPE)
endfunction()

function(require text phrase)
  string(FIND "${text}" "${phrase}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "expected \"${phrase}\" in\n${text}")
  endif()
endfunction()

file(REMOVE_RECURSE ${SCRATCH})
file(WRITE ${SCRATCH}/questions.txt "how long may a dog stay\n\n")
file(WRITE ${SCRATCH}/notes/pets.md "---\ntitle: Pets\nyear: 2024\ntags: [dogs, cats]\n---\n# Pets\n\nA dog may stay for three nights.\n")
file(WRITE ${SCRATCH}/notes/more/parking.txt "Parking\n\nCars stand behind the house.\n")
file(WRITE ${SCRATCH}/notes/broken.md "---\ntitle: never closed\n")
file(WRITE ${SCRATCH}/notes/image.png "not read")

run(0)
file(READ ${EXPECTED} expected)
if(NOT ANSWER STREQUAL expected)
  file(WRITE ${SCRATCH}/printed.txt "${ANSWER}")
  execute_process(COMMAND diff ${EXPECTED} ${SCRATCH}/printed.txt)
  message(FATAL_ERROR "the tour printed something else than ${EXPECTED}")
endif()

run(0 --folder ${SCRATCH}/notes --ask "where do I park")
require("${ANSWER}" "more/parking")
require("${COMPLAINT}" "broken.md")
require("${COMPLAINT}" "2 files read")
run(0 --folder ${SCRATCH}/notes)
require("${ANSWER}" "pets")

run(2 --folder ${SCRATCH}/nowhere --ask x)
require("${COMPLAINT}" "nowhere is no folder")
file(MAKE_DIRECTORY ${SCRATCH}/empty)
run(2 --folder ${SCRATCH}/empty --ask x)
require("${COMPLAINT}" "no Markdown or text file")
run(2 --ask x)
run(2 --nonsense)
require("${COMPLAINT}" "usage")
