# The front door. `make demo` and `make test` need a Debian 12 with git, make and gcc; they install the rest.
#
#   make build      the command at build/daedal, the libraries next to it
#   make demo       daedal's main job on the pendulum
#   make test       what must pass before a commit, in minutes; ends with "N passed, N failed"
#   make test-long  the rest: every sanitizer on every test, all refused allocations, the fuzzer, long generators; hours
#   make library    models of the Modelica Standard Library against their ledger (tests/library/README.md)
#   make install    command, libraries, header, man page, examples, documents, Python package; PREFIX=/usr/local DESTDIR=
#   make static     makes sure that build/daedal needs nothing but the C library
#   make deb        Debian packages in build-deb/; tools/test_deb tries them
#   make dist       the source as dist/daedal-VERSION.tar.gz, as it is committed
#   make wheel      a Python wheel in dist/ with the command and a library that needs nothing but the C library
#   make variants   builds with clang and without SUNDIALS, warnings as errors, and runs the command `doctor` of both
#   make windows    build-windows/daedal.exe, by mingw
#   make musl       build-musl/daedal, by musl-gcc: one file that needs nothing but the kernel
#   make debug      build-debug/, not optimized
#   make asan       build-asan/, with address and undefined-behaviour sanitizers
#   make tsan       build-tsan/, with the thread sanitizer; runs only the test of threads
#   make format     clang-format on the whole tree
#   make tidy       clang-tidy on the library and the command
#   make fuzz       fuzzes the reader and the way from models, netlists and libraries to reports; SECONDS=3600
#   make gallery    docs/gallery.md, a picture of each example
#   make reference  docs/reference.md from include/daedal.h
#   make clean      removes the build directories

PREFIX ?= /usr/local
DESTDIR ?=
SECONDS ?= 3600
CONFIGURE = cmake -G Ninja -S . $(CMAKE_ARGS)

.PHONY: build demo test test-long library install static deb dist wheel variants windows musl debug asan tsan format tidy fuzz gallery reference clean

build:
	@tools/setup build
	@$(CONFIGURE) -B build -DCMAKE_BUILD_TYPE=Release >/dev/null
	@cmake --build build

demo: build
	@cat examples/pendulum.mo
	build/daedal analyze examples/pendulum.mo
	build/daedal simulate examples/pendulum.mo --output-file build/pendulum.csv --plot build/pendulum.svg
	build/daedal simulate examples/pendulum.mo --output-file build/pendulum.csv --variables 'x|y' --plot - -q
	@echo "the trajectory is in build/pendulum.csv, a picture of it in build/pendulum.svg"

test:
	@tools/setup build test
	@tools/run_tests quick

test-long:
	@tools/setup build test
	@tools/run_tests long

library: build
	tools/library_check

install: build
	DESTDIR=$(DESTDIR) cmake --install build --prefix $(PREFIX)

static: build
	@! ldd build/daedal | grep -v -e linux-vdso -e ld-linux -e 'libc\.so' -e 'libm\.so'

deb:
	@tools/setup build deb
	@tools/make_deb

dist:
	@tools/make_dist

wheel: build
	@cmake --build build --target daedal_bundle
	@mkdir -p dist
	@cd python/build_backend && DAEDAL_LIBRARY=../../build/bundle/libdaedal.so DAEDAL_COMMAND=../../build/daedal \
	  python3 -c 'import daedal_backend; print("dist/" + daedal_backend.build_wheel("../../dist"))'

variants:
	@tools/setup build test
	@$(CONFIGURE) -B build-clang -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER=clang -DDAEDAL_WERROR=ON >/dev/null
	@cmake --build build-clang --target daedal daedal_shared
	build-clang/daedal doctor
	@$(CONFIGURE) -B build-plain -DCMAKE_BUILD_TYPE=Release -DDAEDAL_SUNDIALS=OFF -DDAEDAL_WERROR=ON >/dev/null
	@cmake --build build-plain --target daedal daedal_shared
	build-plain/daedal doctor

# The libraries are compiled from Debian's source packages (tools/build_archives), because Debian has them only for its own C library.
CROSS = tools/build_archives $@ && $(CONFIGURE) -B build-$@ -DCMAKE_BUILD_TYPE=Release -DDAEDAL_MPI=OFF -DCMAKE_FIND_ROOT_PATH=$(CURDIR)/build-$@/root \
  -DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY \
  -DARCHIVE_openblas=$(CURDIR)/build-$@/root/lib/liblapack.a -DLIBRARY_openblas=$(CURDIR)/build-$@/root/lib/liblapack.a

windows:
	@tools/setup build windows
	@$(CROSS) -DCMAKE_SYSTEM_NAME=Windows -DCMAKE_SYSTEM_PROCESSOR=x86_64 -DCMAKE_C_COMPILER=x86_64-w64-mingw32-gcc-posix >/dev/null
	@cmake --build build-windows --target daedal

musl:
	@tools/setup build musl
	@$(CROSS) -DCMAKE_C_COMPILER=musl-gcc -DCMAKE_EXE_LINKER_FLAGS=-static >/dev/null
	@cmake --build build-musl --target daedal daedal_static
	build-musl/daedal doctor

debug:
	@tools/setup build test
	@$(CONFIGURE) -B build-debug -DCMAKE_BUILD_TYPE=Debug >/dev/null
	@cmake --build build-debug

asan:
	@tools/setup build test
	@$(CONFIGURE) -B build-asan -DCMAKE_BUILD_TYPE=Debug -DDAEDAL_SANITIZE=ON >/dev/null
	@cmake --build build-asan

tsan:
	@tools/setup build test
	@$(CONFIGURE) -B build-tsan -DCMAKE_BUILD_TYPE=Release -DDAEDAL_SANITIZE_THREADS=ON >/dev/null
	@cmake --build build-tsan --target test_threads

format:
	@tools/setup tidy
	find src include tests -name '*.[ch]' | xargs clang-format -i

tidy: build
	@tools/setup tidy
	find src -name '*.c' | xargs -P 2 -n 4 clang-tidy --quiet -p build

fuzz:
	@tools/setup build test
	tools/fuzz $(SECONDS)

gallery: build
	tools/make_gallery build/daedal

reference:
	tools/make_reference

clean:
	rm -rf build dist build-deb build-clang build-plain build-windows build-musl build-debug build-asan build-tsan build-fuzz
