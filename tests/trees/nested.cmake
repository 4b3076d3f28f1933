# Configures, builds and tests a tree of its own: cmake -DQUARRY= -DTREE= -DCXX= -DSANITIZE= -DTARGET= -DLABELS= -P
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "failed (${result}): ${command}")
  endif()
endfunction()

# Without lines for a debugger, which cost an eighth of the compiler's time: a finding names the function, and the
# preset `clang` the line.
run(${CMAKE_COMMAND} -S ${QUARRY} -B ${TREE} -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_COMPILER=${CXX}
  -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DQUARRY_SANITIZE=${SANITIZE} -DQUARRY_NESTED_TREES=OFF -DQUARRY_INSTALL=OFF)
run(${CMAKE_COMMAND} --build ${TREE} --target ${TARGET})
run(${CMAKE_CTEST_COMMAND} --test-dir ${TREE} -L ${LABELS} -j 2 --output-on-failure --no-tests=error)
