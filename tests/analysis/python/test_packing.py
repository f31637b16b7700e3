"""The wheel's name says where its program runs; the same files give the same bytes.

Environment: SOURCES, the checkout; ORRERY, a program; CC, a C compiler."""
import base64
import csv
import hashlib
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

SOURCES = pathlib.Path(os.environ["SOURCES"])
PACK = SOURCES / "analysis" / "python" / "wheel"
PLAIN = "int main(void) { return 0; }"
#: gettid came with glibc 2.30: the program then asks for that version, or a later one.
LATER = "#define _GNU_SOURCE\n#include <unistd.h>\nint main(void) { return gettid() == 0; }"
OTHER = "double gsl_ran_gaussian(void *, double);\nint main(void) { return (int)gsl_ran_gaussian(0, 1.0); }"


def compiled(folder, source, *options):
    path = pathlib.Path(folder) / "program"
    path.with_suffix(".c").write_text(source)
    subprocess.run([os.environ["CC"], "-o", path, path.with_suffix(".c"), *options], check=True)
    return path


def packed(folder, program, *packages):
    done = subprocess.run([sys.executable, PACK, program, "1.2.3", folder, SOURCES / "analysis/python/orrery", *packages],
                          check=True, capture_output=True, text=True)
    (path,) = pathlib.Path(folder).glob("*.whl")
    return path, done.stdout + done.stderr


class Packing(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.machine = os.uname().machine

    def test_program_without_libraries_runs_on_every_linux(self):
        path, _ = packed(self.scratch.name, compiled(self.scratch.name, LATER, "-static"))
        self.assertEqual(path.name, f"orrery-1.2.3-py3-none-manylinux_2_17_{self.machine}.manylinux2014_{self.machine}."
                                    f"musllinux_1_1_{self.machine}.whl")
        with zipfile.ZipFile(path) as wheel:
            tags = [line for line in wheel.read("orrery-1.2.3.dist-info/WHEEL").decode().split("\n") if line[:4] == "Tag:"]
            self.assertEqual(tags, [f"Tag: py3-none-{t}_{self.machine}" for t in
                                    ("manylinux_2_17", "manylinux2014", "musllinux_1_1")])
            self.assertIn("orrery-1.2.3.dist-info/licenses/libgsl-dev", wheel.namelist())

    def test_program_on_the_c_library_alone_says_which(self):
        path, _ = packed(self.scratch.name, compiled(self.scratch.name, LATER))
        asked = subprocess.run(["objdump", "-T", pathlib.Path(self.scratch.name) / "program"], capture_output=True,
                               text=True, check=True).stdout
        latest = max(tuple(map(int, w.strip("()").split("_")[1].split("."))) for w in asked.split() if "GLIBC_2" in w)
        self.assertGreaterEqual(latest, (2, 30))
        self.assertEqual(path.name, f"orrery-1.2.3-py3-none-manylinux_{latest[0]}_{latest[1]}_{self.machine}.whl")

    def test_program_on_other_libraries_is_for_this_distribution(self):
        path, said = packed(self.scratch.name, compiled(self.scratch.name, OTHER, "-lgsl", "-lgslcblas", "-lm"))
        self.assertEqual(path.name, f"orrery-1.2.3-py3-none-linux_{self.machine}.whl")
        self.assertRegex(said, r"it needs libgsl\.so\.\d+.*ORRERY_STATIC")

    def test_same_files_same_bytes(self):
        program = compiled(self.scratch.name, PLAIN)
        first = packed(self.scratch.name, program)[0].read_bytes()
        os.utime(program, (0, 0))
        self.assertEqual(first, packed(self.scratch.name, program)[0].read_bytes())

    def test_record_names_every_file_with_its_hash(self):
        path, _ = packed(self.scratch.name, compiled(self.scratch.name, PLAIN))
        with zipfile.ZipFile(path) as wheel:
            rows = list(csv.reader(io.StringIO(wheel.read("orrery-1.2.3.dist-info/RECORD").decode())))
            self.assertEqual([r[0] for r in rows], wheel.namelist())
            self.assertEqual(rows[-1], ["orrery-1.2.3.dist-info/RECORD", "", ""])
            for name, digest, size in rows[:-1]:
                data = wheel.read(name)
                want = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                self.assertEqual((digest, int(size)), (f"sha256={want}", len(data)))
            modes = {i.filename for i in wheel.infolist() if i.external_attr >> 16 & 0o111}
            self.assertEqual(modes, {"orrery/bin/orrery"})

    def test_generated_part_follows_the_program(self):
        """A program whose options and documents changed writes other functions and classes: nothing is kept by hand."""
        folder = pathlib.Path(self.scratch.name)
        fake = folder / "orrery"
        fake.write_text(f"#!/bin/sh\n'{os.environ['ORRERY']}' \"$@\" | sed 's/\"--global-batch\"/\"--galactic-batch\"/; "
                        "s/\"step_before\"/\"step_ahead\"/'\n")
        fake.chmod(0o755)
        subprocess.run([sys.executable, SOURCES / "analysis/python/generate", fake, folder / "out"],
                       check=True, stdout=subprocess.DEVNULL)
        written = (folder / "out" / "_commands.py").read_text()
        lines = {line.strip() for line in written.split("\n")}
        self.assertEqual({"galactic_batch: Optional[Count] = None,", "'galactic_batch': Option('--galactic-batch', 'some', False),"}
                         - lines, set())
        self.assertFalse("global_batch" in written)
        documents = (folder / "out" / "_documents.py").read_text()
        self.assertTrue("    step_ahead: int\n" in documents and "step_before" not in documents)


if __name__ == "__main__":
    unittest.main()
