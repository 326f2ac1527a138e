"""Programs compiled against interface 1.0 (interface/daedal.h, frozen) run with the library that was built. Members of structs stay at their places, enumerators keep their values, and
functions keep their declarations. Structs grow only at the end, and only if the caller passes their size. The frozen programs run."""
import os
import pathlib
import re
import subprocess
import tempfile

SOURCE, BUILD = pathlib.Path(os.environ["SOURCE_DIR"]), pathlib.Path(os.environ["BUILD_DIR"])
FROZEN = SOURCE / "tests" / "interface"
FLAGS = ["-fsanitize=address,undefined"] if os.environ["BUILD_KIND"] == "asan" else []
EXPECTED = {"pendulum": r"^index 3, 2 degrees of freedom$", "realtime": r"^after 3 s the angle is", "sweep": r"^7 of 7 points, 0 failed$"}


def plain(text):
    """The header without comments and line ends."""
    return re.sub(r"\s+", " ", re.sub(r"/\*.*?\*/|^#.*?$", "", text, flags=re.S | re.M))


def structs(text):
    """The members of each struct that is not opaque."""
    found = {}
    for name, body in re.findall(r"typedef struct (daedal_\w+) \{(.*?)\} \1;", text):
        functions = re.findall(r"\(\*(\w+)\)\([^;]*\)", body)
        rest = re.sub(r"[^;]*\(\*\w+\)\([^;]*\);", "", body)
        found[name] = functions + [re.search(r"(\w+)(\[\w+\])?$", part.strip())[1] for part in re.split("[;,]", rest) if part.strip()]
    return found


def enumerators(text):
    return [name for body in re.findall(r"typedef enum \w+ \{(.*?)\}", text) for name in re.findall(r"\bDAEDAL_\w+", re.sub(r"=[^,]*", "", body))]


def declarations(text):
    """The declarations of functions, also of those called by inline functions, because programs contain calls of them."""
    return {name: f"{result}{name}({arguments})" for result, name, arguments in re.findall(r"([\w ]+[ *]+)(daedal_\w+)\(([^(){}]*)\);", text)}


def compile_and_run(folder, include, text):
    (folder / "t.c").write_text(text)
    subprocess.run(["cc", "-w", f"-I{include}", str(folder / "t.c"), "-o", str(folder / "t")], check=True)
    return dict(line.split() for line in subprocess.run([str(folder / "t")], capture_output=True, text=True, check=True).stdout.splitlines())


def layout(folder, include, frozen):
    """Offsets and sizes, in another header, of the members that the frozen header has."""
    lines = [f'printf("{s}.{m} %zu:%zu\\n", offsetof({s}, {m}), sizeof(({s} *)0)->{m});' for s, members in structs(frozen).items() for m in members]
    lines += [f'printf("{s} %zu\\n", sizeof({s}));' for s in structs(frozen)]
    lines += [f'printf("{e} %d\\n", (int){e});' for e in enumerators(frozen)]
    return compile_and_run(folder, include, "#include <daedal.h>\n#include <stdio.h>\nint main(void) {" + "\n".join(lines) + "return 0;}\n")


def may_grow(frozen):
    """Structs that begin with their size, and those that a function fills up to the size it is given."""
    return {s for s, members in structs(frozen).items() if "size" in members} | set(re.findall(r"(daedal_\w+) \*out, size_t size", frozen))


def breaches(folder, header):
    """Changes that would break a program compiled against the frozen header."""
    frozen = plain((FROZEN / "daedal.h").read_text())
    (folder / "daedal.h").write_text(header)
    now, before = declarations(plain(header)), declarations(frozen)
    found = [f"{name}: {text}" for name, text in before.items() if now.get(name) != text]
    try:
        old, new = layout(folder, FROZEN, frozen), layout(folder, folder, frozen)
    except subprocess.CalledProcessError:
        return found + ["a member or an enumerator is gone"]
    return found + [f"{key}: {old[key]} is now {new[key]}" for key in old
                    if new[key] != old[key] and not (key in may_grow(frozen) and int(new[key]) > int(old[key]))]


def main():
    header = (SOURCE / "include" / "daedal.h").read_text()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        assert len(structs(plain(header))) > 25 and len(declarations(plain(header))) > 80, "the header is not understood"
        found = breaches(folder, header)
        assert not found, found
        # Changes that must be detected, and changes that are allowed.
        for old, new in [("typedef struct daedal_value {", "typedef struct daedal_value {\n  int added;"), ("DAEDAL_USAGE = 2", "DAEDAL_USAGE = 9"),
                         ("const char *daedal_version(void);", "int daedal_version(void);"), ("uint32_t line, column,", "uint64_t line, column,")]:
            assert old in header and breaches(folder, header.replace(old, new, 1)), f"not noticed: {new}"
        assert not breaches(folder, re.sub(r"\} daedal_options;", "  double added;\n} daedal_options;", header)), "an option could not be added"
        for program, pattern in EXPECTED.items():
            subprocess.run(["cc", "-std=c99", *FLAGS, f"-I{FROZEN}", str(FROZEN / f"{program}.c"), f"-L{BUILD}", "-ldaedal", "-lm", f"-Wl,-rpath,{BUILD}",
                            "-o", str(folder / program)], check=True)
            output = subprocess.run([str(folder / program)], capture_output=True, text=True, check=True).stdout
            assert re.search(pattern, output, re.M), output
    print("9 passed, 0 failed")


main()
