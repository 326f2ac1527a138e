"""Checks of the library's object files: only base/heap.c takes memory from the C library, nothing prints, exits or keeps mutable
state, and the shared library exports only daedal_*."""
import os
import re
import subprocess
import sys

BUILD = os.environ["BUILD_DIR"]

FORBIDDEN = re.compile(
    r"malloc|calloc|realloc|reallocarray|free|strdup|strndup|asprintf|vasprintf"
    r"|__v?printf_chk|v?printf|puts|putchar|perror|stdout|stderr|stdin"
    r"|exit|_exit|_Exit|quick_exit|abort|__assert_fail|atexit|signal|setlocale|rand|srand|strtok|localtime|gmtime")
ALLOWED = {
    ("heap.c.o", "realloc"), ("heap.c.o", "calloc"), ("heap.c.o", "free"),  # the default hook
    ("heap.c.o", "abort"),  # see heap_fail
    ("file.c.o", "free"),  # the result of realpath, registered with heap_defer
    ("fmu.c.o", "calloc"), ("fmu.c.o", "free"),  # handed to an FMU of FMI 2.0, which requires them
    ("vectors.c.o", "free"), ("vectors.c.o", "realloc"),  # memory that SUNDIALS has allocated with malloc
}


def nm(*arguments):
    return subprocess.run(["nm", *arguments], capture_output=True, text=True, check=True).stdout


def forbidden_calls():
    for line in nm("-A", "-u", f"{BUILD}/libdaedal.a").splitlines():
        place, _, symbol = line.rpartition(" ")
        member = place.split(":")[1]
        if FORBIDDEN.fullmatch(symbol) and (member, symbol) not in ALLOWED:
            yield f"{member} uses {symbol}"


def mutable_state():
    """Objects in .data and .bss; tables of constants lie in .rodata and .data.rel.ro."""
    for line in nm("-A", "--format=sysv", f"{BUILD}/libdaedal.a").splitlines():
        fields = [field.strip() for field in line.split("|")]
        if len(fields) == 7 and re.fullmatch(r"\.t?(data|bss)(\.(?!rel\.ro).*)?|\*COM\*", fields[6]):
            if "foreign.c.o" not in fields[0]:  # it holds the current call of each thread, because a C function passes only a text to ModelicaError
                yield f"{fields[0].split(':')[1]} keeps state in {fields[0].split(':')[-1]}"


def foreign_exports():
    for line in nm("-D", "--defined-only", f"{BUILD}/libdaedal.so").splitlines():
        symbol = line.split()[-1].split("@")[0]
        if not symbol.startswith("daedal_") and symbol != "DAEDAL_1":
            yield f"libdaedal.so exports {symbol}"


def main():
    if os.environ["BUILD_KIND"] == "asan":  # sanitizers add their own calls and state
        print("0 passed, 0 failed")
        return 0
    failed = 0
    for check in (forbidden_calls, mutable_state, foreign_exports):
        found = list(check())
        for line in found:
            print(line)
        failed += bool(found)
    print(f"{3 - failed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
