# What our own programs are compiled with, and users' are not.

# Headers of ours are not SYSTEM here, so that they are warned about like everything else.
add_library(quarry_dev INTERFACE)
target_link_libraries(quarry_dev INTERFACE quarry::quarry)
target_compile_options(quarry_dev INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)

# Empty, or a list for -fsanitize=. A finding ends the program. Null pointers are the address sanitizer's to find.
set(QUARRY_SANITIZE "" CACHE STRING "Sanitizers for tests and examples, such as address,undefined")
if(QUARRY_SANITIZE)
  target_compile_options(quarry_dev INTERFACE -fsanitize=${QUARRY_SANITIZE} -fno-sanitize=null
    -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(quarry_dev INTERFACE -fsanitize=${QUARRY_SANITIZE})
endif()

# Programs stand in one place, whatever folder they come from.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
