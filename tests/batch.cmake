# Writes one file that holds several tests: cmake -DOUT= -DSOURCES=a|b -P batch.cmake
#
# Reading the library takes a compiler longer than compiling a test, and code that two tests share is compiled once for
# both. What stands before the first declaration of each comes first, its includes; then the rest of each in a namespace
# of its own, so that equal names do not meet, and with its own file and lines in messages.
string(REPLACE "|" ";" sources "${SOURCES}")
set(includes "")
set(bodies "")
set(number 0)
foreach(source IN LISTS sources)
  file(READ ${source} text)
  string(REGEX MATCH "^((//|#)[^\n]*\n|\n)*" head "${text}")
  string(LENGTH "${head}" end)
  string(SUBSTRING "${text}" ${end} -1 body)
  string(REGEX REPLACE "[^\n]" "" newlines "${head}")
  string(LENGTH "${newlines}" lines)
  math(EXPR lines "${lines} + 1")
  math(EXPR number "${number} + 1")
  string(APPEND includes "${head}")
  string(APPEND bodies "namespace batch_${number} {\n#line ${lines} \"${source}\"\n${body}\n}\n")
endforeach()
file(WRITE ${OUT} "${includes}${bodies}")
