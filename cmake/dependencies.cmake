# The target `dependencies`: SuiteSparse, LAPACK, SUNDIALS when present, the math and loader libraries.
add_library(dependencies INTERFACE)
if(DAEDAL_STATIC)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
endif()

function(need_library variable)
  find_library(${variable} NAMES ${ARGN})
  if(NOT ${variable})
    message(FATAL_ERROR "library ${ARGN} not found; tools/packages.txt lists the Debian packages")
  endif()
  target_link_libraries(dependencies INTERFACE ${${variable}})
endfunction()

find_path(SUITESPARSE_INCLUDE klu.h PATH_SUFFIXES suitesparse REQUIRED)
target_include_directories(dependencies SYSTEM INTERFACE ${SUITESPARSE_INCLUDE})
foreach(name klu btf colamd amd suitesparseconfig)
  need_library(LIBRARY_${name} ${name})
endforeach()

# The serial OpenBLAS (it holds LAPACK too) rather than the one that starts threads. Both carry the same
# soname, so the directory goes into the run path; a static link would add tens of megabytes.
find_library(LIBRARY_lapack NAMES openblas PATH_SUFFIXES openblas-serial NO_CACHE
  PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE} NO_DEFAULT_PATH)
if(LIBRARY_lapack)
  get_filename_component(serial_directory ${LIBRARY_lapack} DIRECTORY)
  if(NOT DAEDAL_STATIC)
    list(APPEND CMAKE_BUILD_RPATH ${serial_directory})
    list(APPEND CMAKE_INSTALL_RPATH ${serial_directory})
  endif()
  target_link_libraries(dependencies INTERFACE ${LIBRARY_lapack})
else()
  find_package(LAPACK REQUIRED)
  target_link_libraries(dependencies INTERFACE LAPACK::LAPACK)
endif()

# Calls of functions in libraries that the user names.
find_path(FFI_INCLUDE ffi.h REQUIRED)
target_include_directories(dependencies SYSTEM INTERFACE ${FFI_INCLUDE})
need_library(LIBRARY_ffi ffi)

# Archives of exported models.
find_path(ZLIB_INCLUDE zlib.h REQUIRED)
need_library(LIBRARY_z z)

set(DAEDAL_WITH_SUNDIALS OFF)
if(DAEDAL_SUNDIALS)
  find_path(SUNDIALS_INCLUDE ida/ida.h)
  set(SUNDIALS_LIBRARIES "")
  foreach(name ida cvode nvecserial sunmatrixsparse sunmatrixdense sunlinsolklu sunlinsoldense)
    find_library(LIBRARY_sundials_${name} NAMES sundials_${name})
    list(APPEND SUNDIALS_LIBRARIES ${LIBRARY_sundials_${name}})
  endforeach()
  if(SUNDIALS_INCLUDE AND NOT SUNDIALS_LIBRARIES MATCHES "NOTFOUND")
    set(DAEDAL_WITH_SUNDIALS ON)
    target_include_directories(dependencies SYSTEM INTERFACE ${SUNDIALS_INCLUDE})
    target_link_libraries(dependencies INTERFACE ${SUNDIALS_LIBRARIES})
    target_compile_definitions(dependencies INTERFACE DAEDAL_WITH_SUNDIALS=1)
  endif()
endif()
message(STATUS "SUNDIALS: ${DAEDAL_WITH_SUNDIALS}")

# LAPACK is Fortran; its run-time libraries are the compiler's.
if(DAEDAL_STATIC)
  foreach(name gfortran quadmath)
    execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=lib${name}.a OUTPUT_VARIABLE file
      OUTPUT_STRIP_TRAILING_WHITESPACE)
    target_link_libraries(dependencies INTERFACE ${file})
  endforeach()
  target_link_options(dependencies INTERFACE -static-libgcc)
endif()

target_link_options(dependencies INTERFACE -Wl,--as-needed)
target_link_libraries(dependencies INTERFACE m ${CMAKE_DL_LIBS})
