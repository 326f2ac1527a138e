"""Models and libraries in several files: the messages about wrong files, their places and the exit status."""
import os
import pathlib
import random
import subprocess
import tempfile

DAEDAL = os.environ["DAEDAL"]
WIDTH = int(os.environ.get("SOURCES_WIDTH", "60"))


class Folder:
    """A separate directory; runs the command in it."""

    def __init__(self):
        self.holder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.holder.name)

    def write(self, name, text):
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())

    def run(self, *words, **environment):
        return subprocess.run([DAEDAL, *words], cwd=self.path, capture_output=True, text=True,
                              env=dict(os.environ, **environment))


def expect(run, status, *words):
    said = run.stdout + run.stderr
    if run.returncode != status or any(word not in said for word in words):
        raise AssertionError(f"{run.args}: exit {run.returncode}, expected {status} and {words}\n{said}")


def check_files():
    """Each wrong file is named with its line; the others are still read."""
    cases = [("model A\n  Real x\nend A;\n", 3, "A.mo:2:9: error: expected `;`"),
             ("model A\n  Real x;\nend B;\n", 3, "A.mo:3:5: error: wrong name after `end`"),
             (b"\xef\xbb\xbfmodel A end A;", 0, "1 file, 1 class: fine"),
             (b"\xff\xfem\0o\0d\0e\0l\0", 3, "A.mo:1:1: error: invalid UTF-8"),
             ("model Stra\xdfe end Stra\xdfe;".encode("latin-1"), 3, "save the file as UTF-8"),
             (bytes(range(256)) * 100, 3, "A.mo:1:"),
             ("", 3, "the file is empty")]
    for text, status, words in cases:
        folder = Folder()
        folder.write("lib/sub/A.mo", text)
        folder.write("lib/notes.txt", "no class")
        expect(folder.run("check", "--library", "lib"), status, words)


def check_trees():
    """Links to directories above, to themselves and to nothing; directories that do not exist."""
    folder = Folder()
    folder.write("lib/L/package.mo", "package L model A end A; end L;")
    (folder.path / "lib/L/up").symlink_to("../..")
    (folder.path / "lib/self").symlink_to("self")
    (folder.path / "lib/gone.mo").symlink_to("nowhere.mo")
    os.mkfifo(folder.path / "lib/pipe.mo")
    expect(folder.run("check", "--library", "lib"), 0, "1 file, 2 classes: fine")
    expect(folder.run("check", "--library", "lib", "--library", "lib/L", "-q"), 0)
    expect(folder.run("check", "--library", "nowhere"), 7, "nowhere", "No such file or directory")
    expect(folder.run("check", "--library", "lib/L/package.mo"), 7, "Not a directory")


def check_usage():
    folder = Folder()
    folder.write("M.mo", "model M Real x = 1; end M;")
    expect(folder.run("check", "M.mo", MODELICAPATH="/nowhere:" + str(folder.path)), 0)
    expect(folder.run("check", MODELICAPATH=str(folder.path)), 2, "--model NAME --library DIR")
    expect(folder.run("simulate", "--library", "."), 2, "no model")
    expect(folder.run("check", "--model", "M"), 2, "no model")
    expect(folder.run("check", "--library", "a:b"), 2, "without a colon")
    expect(folder.run("check", "--library", ""), 2, "not empty")


LIBRARY = {
    "lib/L 1.0/package.mo": "package L annotation(version = \"1.0\"); end L;",
    "lib/L 1.0/Decay.mo": "within L;\nmodel Decay\n  extends Parts.Rate;\n  Real x(start = 1, fixed = true);\nequation\n"
                          "  der(x) = -k*x;\nend Decay;\n",
    "lib/L 1.0/Parts/package.mo": "within L;\npackage Parts end Parts;",
    "lib/L 1.0/Parts/Rate.mo": "within L.Parts;\npartial model Rate\n  parameter Real k = 2;\nend Rate;\n",
    "lib/L 1.0/Parts/Twice.mo": "within L.Parts;\nmodel Twice\n  Real x;\nequation\n  x = time;\n  x = 2*time;\nend Twice;\n",
    "lib/ModelicaServices/package.mo": "package ModelicaServices\n  package ExternalReferences\n    function loadResource\n"
                                       "      input String uri;\n      output String name;\n    algorithm\n      name := uri;\n"
                                       "    end loadResource;\n  end ExternalReferences;\nend ModelicaServices;\n",
    "Uses.mo": "model Uses\n  L.Decay a(k = 3);\n  annotation(uses(L(version = \"2.0\")));\nend Uses;\n",
    "lib/N/package.mo": "package N constant Real c = L.c; annotation(uses(L(version = \"1.0\"))); end N;",
    "Needs.mo": "model Needs Real x = N.c; end Needs;",
    "File.mo": "model File\n  parameter String name = ModelicaServices.ExternalReferences.loadResource(\"modelica://L.Parts/a%20b.txt\");\n"
               "end File;\n",
}


def check_models():
    """Classes of libraries run; messages and reports name the file that they mean."""
    folder = Folder()
    for name, text in LIBRARY.items():
        folder.write(name, text)
    expect(folder.run("check", "--model", "L.Decay", "--library", "lib"), 0, "Decay: 1 equation, 1 unknown: fine")
    expect(folder.run("check", "--model", "L.Decay", MODELICAPATH="/nowhere:lib"), 0)
    expect(folder.run("check", "--model", "L.Decay", "--library", "lib/L 1.0"), 0)
    expect(folder.run("check", "Needs.mo", "--library", "lib/N"), 3, "no class L in ", "name the directory around it")
    expect(folder.run("check", "Needs.mo", "--library", "lib/N/package.mo"), 7, "name the directory that holds package.mo")
    expect(folder.run("check", "lib/L 1.0/Decay.mo"), 0)
    expect(folder.run("check", "lib/L 1.0/package.mo", "--model", "L.Decay"), 0)
    expect(folder.run("simulate", "--model", "L.Decay", "--library", "lib"), 0, "trajectory written to Decay.csv")
    expect(folder.run("check", "Uses.mo", "--library", "lib"), 0, "Uses.mo:3:",
           "warning: version 2.0 of L is requested, version 1.0 is used")
    expect(folder.run("check", "Uses.mo"), 3, "Uses.mo:2:3: error:", "--library or MODELICAPATH")
    expect(folder.run("check", "Uses.mo", "--library", "nowhere"), 7, "nowhere")
    expect(folder.run("check", "--model", "L.None", "--library", "lib"), 3, "no model `L.None`")
    expect(folder.run("check", "--model", "M.None", "--library", "lib"), 3, "no class M in lib")
    expect(folder.run("analyze", "--model", "L.Parts.Twice", "--library", "lib"), 4, "Twice.mo:5:", "Twice.mo:6:")
    expect(folder.run("analyze", "--model", "L.Decay", "--library", "lib", "--json", "-"), 0)
    expect(folder.run("flatten", "File.mo", "--library", "lib"), 0, "lib/L 1.0/Parts/a b.txt")


def random_class(chance, depth, name):
    """A class that contains classes, components and equations, and the number of classes."""
    count, lines = 1, [f"{chance.choice(['model', 'class', 'block', 'partial model', 'encapsulated model'])} {name} \"text\""]
    for k in range(chance.randrange(4)):
        if depth and chance.random() < 0.5:
            inner, inside = random_class(chance, depth - 1, f"C{k}")
            lines.append(inner)
            count += inside
        else:
            lines.append(chance.choice([
                f"parameter Real p{k}(min = 0) = {k};", f"replaceable package Q{k} = A.B constrainedby A.C(x = 1) \"why\" annotation(x);",
                f"import I{k} = A.B.C;", f"extends A.B(redeclare model M = N(k = 1), final x(each unit = \"m\") = 3);",
                f"Real[2] x{k}[3] if true \"words\";", "import A.B.*;", "import A.{B, C};"]))
            count += lines[-1].startswith("replaceable")
    return "\n".join(lines) + f"\nend {name};", count


def check_random_libraries():
    """Trees of packages: every file is read once and every class counted; then one of them loses a piece of its text."""
    chance = random.Random(17)
    for _ in range(WIDTH // 20):
        folder, classes, files = Folder(), 0, []
        for number in range(20):
            text, count = random_class(chance, 3, f"F{number}")
            files.append(f"lib/D{chance.randrange(4)}/F{number}.mo")
            folder.write(files[-1], "within L;\n" + text)
            classes += count
        expect(folder.run("check", "--library", "lib"), 0, f"20 files, {classes} class")
        path = folder.path / chance.choice(files)
        text = path.read_text()
        path.write_text(text[:text.rindex("end")])
        expect(folder.run("check", "--library", "lib"), 3, f"{path.relative_to(folder.path)}:", "error: the file ends before")


def main():
    check_files()
    check_trees()
    check_usage()
    check_models()
    check_random_libraries()


if __name__ == "__main__":
    main()
