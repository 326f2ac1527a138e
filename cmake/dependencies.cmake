# The target `dependencies`: SuiteSparse, LAPACK, SUNDIALS when present, the math and loader libraries, as shared libraries.
# The target `archives`: the same as archives, for the command. The dynamic loader takes twice as long to bind OpenBLAS and
# SUNDIALS as a small model takes to run.
add_library(dependencies INTERFACE)
add_library(archives INTERFACE)

function(need_library name)
  find_library(LIBRARY_${name} NAMES ${name})
  find_library(ARCHIVE_${name} NAMES lib${name}.a)
  if(NOT LIBRARY_${name})
    message(FATAL_ERROR "library ${name} not found; tools/packages.txt lists the Debian packages")
  endif()
  target_link_libraries(dependencies INTERFACE ${LIBRARY_${name}})
  target_link_libraries(archives INTERFACE ${ARCHIVE_${name}})
endfunction()

function(need_header header)
  find_path(HEADER_${header} ${header} ${ARGN} REQUIRED)
  target_include_directories(dependencies SYSTEM INTERFACE ${HEADER_${header}})
endfunction()

set(DAEDAL_WITH_SUNDIALS OFF)
if(DAEDAL_SUNDIALS)
  find_path(SUNDIALS_INCLUDE ida/ida.h)
  find_library(LIBRARY_sundials_ida sundials_ida)
  if(SUNDIALS_INCLUDE AND LIBRARY_sundials_ida)
    set(DAEDAL_WITH_SUNDIALS ON)
    target_include_directories(dependencies SYSTEM INTERFACE ${SUNDIALS_INCLUDE})
    target_compile_definitions(dependencies INTERFACE DAEDAL_WITH_SUNDIALS=1)
    foreach(name ida cvode nvecserial sunmatrixsparse sunmatrixdense sunlinsolklu sunlinsoldense)
      need_library(sundials_${name})
    endforeach()
  endif()
endif()
message(STATUS "SUNDIALS: ${DAEDAL_WITH_SUNDIALS}")

need_header(klu.h PATH_SUFFIXES suitesparse)
foreach(name klu btf colamd amd suitesparseconfig)
  need_library(${name})
endforeach()

# The serial OpenBLAS (which contains LAPACK) rather than the one that starts threads. Both variants of OpenBLAS have the same soname, so the directory goes into the run path.
set(serial_directory /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-serial)
find_library(LIBRARY_openblas openblas PATHS ${serial_directory} NO_DEFAULT_PATH)
find_library(ARCHIVE_openblas libopenblas.a PATHS ${serial_directory} NO_DEFAULT_PATH)
target_link_libraries(archives INTERFACE ${ARCHIVE_openblas})
if(LIBRARY_openblas)
  list(APPEND CMAKE_BUILD_RPATH ${serial_directory})
  list(APPEND CMAKE_INSTALL_RPATH ${serial_directory})
  target_link_libraries(dependencies INTERFACE ${LIBRARY_openblas})
else()
  find_package(LAPACK REQUIRED)
  target_link_libraries(dependencies INTERFACE ${LAPACK_LIBRARIES})
endif()

# For calls of functions in libraries that the user names.
need_header(ffi.h)
need_library(ffi)

# For the archives of exported models.
need_header(zlib.h)
need_library(z)

# Regular expressions are in the C library, but not in the C library of Windows.
if(WIN32)
  need_header(regex.h)
  need_library(regex)
endif()

# LAPACK is Fortran; it calls one function of Fortran's run-time library.
target_sources(archives INTERFACE ${PROJECT_SOURCE_DIR}/cmake/fortran.c)

target_link_options(dependencies INTERFACE -Wl,--as-needed)
target_link_libraries(dependencies INTERFACE m ${CMAKE_DL_LIBS})
target_link_options(archives INTERFACE -Wl,--as-needed -static-libgcc)
target_link_libraries(archives INTERFACE m ${CMAKE_DL_LIBS})

# The libraries with which the command is linked.
option(DAEDAL_ARCHIVES "link the command with archives when all of them are there" ON)
get_target_property(archive_list archives INTERFACE_LINK_LIBRARIES)
if(DAEDAL_ARCHIVES AND NOT archive_list MATCHES "NOTFOUND")
  set(command_libraries archives)
else()
  set(command_libraries dependencies)
endif()
message(STATUS "libraries of the command: ${command_libraries}")
