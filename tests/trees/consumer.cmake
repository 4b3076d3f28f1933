# Builds and runs tests/consumer as somebody else's project: cmake -DHOW= -DQUARRY= -DSCRATCH= -DCXX= [-DBUILT=] -P
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "failed (${result}): ${command}")
  endif()
endfunction()

file(REMOVE_RECURSE ${SCRATCH})
set(where)
if(HOW STREQUAL find_package)
  run(${CMAKE_COMMAND} --install ${BUILT} --prefix ${SCRATCH}/prefix)
  set(where -DCMAKE_PREFIX_PATH=${SCRATCH}/prefix)
else()
  set(where -DQUARRY_FOLDER=${QUARRY})
endif()
run(${CMAKE_COMMAND} -S ${QUARRY}/tests/consumer -B ${SCRATCH}/build -G Ninja -DCMAKE_CXX_COMPILER=${CXX} ${where})
run(${CMAKE_COMMAND} --build ${SCRATCH}/build)
run(${SCRATCH}/build/consumer)

# A version that does not exist yet must be refused.
if(HOW STREQUAL find_package)
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${QUARRY}/tests/consumer -B ${SCRATCH}/refused -G Ninja
    -DCMAKE_CXX_COMPILER=${CXX} ${where} -DQUARRY_WANTED=99.0 RESULT_VARIABLE result OUTPUT_QUIET ERROR_QUIET)
  if(result EQUAL 0)
    message(FATAL_ERROR "version 99 of quarry was found")
  endif()
endif()
