"""The package, installed. Everything is held to what the command line prints.

Environment: WHEEL, the file; SOURCES, the checkout."""
import ast
import inspect
import io
import json
import os
import pathlib
import pickle
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest
import unittest.mock as mock
import warnings
import zipfile
from typing import Any, List

import orrery
from orrery import _commands, _document

SOURCES = pathlib.Path(os.environ["SOURCES"])
SCENARIOS = SOURCES / "scenarios"
HELLO = SCENARIOS / "hello-8-gpus.yaml"
WEEKS = SCENARIOS / "weeks" / "llama3-405b-54-days.yaml"
WALL = SCENARIOS / "memory" / "memory-wall-70b-1gpu.yaml"
DICT = {  # hello-8-gpus.yaml
    "name": "GPT-2 on 8 H100",
    "model": {"preset": "gpt2-124m"},
    "cluster": {"gpu": "h100-80gb-sxm", "node": "dgx-h100", "nodes": 1},
    "training": {"sequence": 1024, "global_batch": 64, "precision": "bf16", "optimizer": "adamw"},
    "layout": {"tp": 1, "pp": 1, "dp": "auto", "sharding": "zero-1", "microbatch": 1, "schedule": "1f1b"},
    "software": "megatron",
}
CLOCKS = ("seconds",)


def line(*words, code=0):
    """The document of a command line."""
    done = subprocess.run([orrery.binary(), *map(str, words), "--json"], capture_output=True, text=True)
    assert done.returncode == code, (words, done.returncode, done.stderr)
    return json.loads(done.stdout)


def timeless(document):
    return {k: v for k, v in document.items() if k not in CLOCKS}


class Quiet(unittest.TestCase):
    """Warnings are of the test that looks for them."""

    maxDiff = 2000

    def setUp(self):
        catch = warnings.catch_warnings()
        catch.__enter__()
        self.addCleanup(catch.__exit__, None, None, None)
        warnings.simplefilter("ignore")

    def same(self, answer, want):
        self.assertEqual(timeless(answer), timeless(want))


class Numbers(Quiet):
    def test_a_dict_is_the_file(self):
        self.same(orrery.run(DICT), line("run", HELLO, "--no-db"))

    def test_every_kind_of_command(self):
        orrery.run(HELLO, db="hello.db")
        small = dict(model="gpt2-124m", gpu="a100-80gb-sxm", gpus=2, sequence=1024, global_batch=8)
        words = ["--model=gpt2-124m", "--gpu=a100-80gb-sxm", "--gpus=2", "--sequence=1024", "--global-batch=8"]
        for answer, want in [
            (orrery.check(HELLO), line("check", HELLO)),
            (orrery.memory(WALL), line("memory", WALL, code=4)),
            (orrery.plan(**small, top=2, why={"pp": 2, "tp": 1}), line("plan", *words, "--top=2", "--why=pp=2,tp=1")),
            (orrery.plan(**small, hold=["tp", "pp"], set={"layout": {"tp": 2, "pp": 1}}),
             line("plan", *words, "--hold=tp,pp", "--set=layout.tp=2", "--set=layout.pp=1")),
            (orrery.study(HELLO, vary={"layout.microbatch": [1, 2], "layout.tp": (1, 2)}),
             line("study", HELLO, "--vary=layout.microbatch=1,2", "--vary=layout.tp=1,2", "--no-db")),
            (orrery.collective(op="all_gather", gpus=16, min="1MiB", max=2.0 * 2**20),
             line("collective", "--op=all_gather", "--gpus=16", "--min=1MiB", "--max=2MiB")),
            (orrery.explain("hello.db"), line("explain", "hello.db")),
            (orrery.explain(HELLO, walls=True, mfu=0.35), line("explain", HELLO, "--walls", "--mfu=35%")),
            (orrery.report("hello.db"), line("report", "hello.db")),
            (orrery.compare("hello.db", HELLO, set={"layout.tp": 2}),
             line("compare", "hello.db", HELLO, "--set=layout.tp=2")),
            (orrery.export(HELLO, launch="megatron"), line("export", HELLO, "--launch=megatron")),
            (orrery.list("gpus", "h100-80gb-sxm"), line("list", "gpus", "h100-80gb-sxm")),
            (orrery.lesson("bubble"), line("lesson", "bubble")),
        ]:
            with self.subTest(schema=want["schema"]):
                self.same(answer, want)

    def test_draws_of_uncertain_figures(self):
        self.same(orrery.run(HELLO, uncertainty=4, seed=7), line("run", HELLO, "--no-db", "--uncertainty=4", "--seed=7"))
        self.assertEqual(orrery.run(HELLO, uncertainty=True).uncertainty.draws, 128)
        self.assertNotIn("uncertainty", orrery.run(HELLO, uncertainty=False))

    def test_two_scenarios_that_are_dicts(self):
        other = {**DICT, "layout": {**DICT["layout"], "microbatch": 8}}
        both = orrery.compare(DICT, other)
        self.assertEqual([both.a.step_time_s, both.b.step_time_s],
                         [orrery.run(DICT).step_time_s, orrery.run(other).step_time_s])
        self.assertGreater(both.a.step_time_s, both.b.step_time_s)
        raced = orrery.run(DICT, against=other, uncertainty=8)
        pathlib.Path("other.json").write_text(json.dumps(other))
        want = line("run", HELLO, "--no-db", "--uncertainty=8", "--against=other.json")
        self.assertGreater(want["uncertainty"]["against"]["faster_probability"], -1)
        self.assertEqual(raced.uncertainty.against.faster_probability, want["uncertainty"]["against"]["faster_probability"])

    def test_measured_steps(self):
        for value in ("step=70ms", ["step=70ms"]):
            self.same(orrery.run(HELLO, measured=value), line("run", HELLO, "--no-db", "--measured=step=70ms"))

    def test_threads_side_by_side(self):
        answers = {}
        work = lambda tp: answers.__setitem__(tp, orrery.run(DICT, set={"layout.tp": tp}).step_time_s)
        threads = [threading.Thread(target=work, args=(tp,)) for tp in (1, 2, 4)]
        [t.start() for t in threads], [t.join() for t in threads]
        self.assertEqual(answers, {tp: line("run", HELLO, "--no-db", f"--set=layout.tp={tp}")["step_time_s"] for tp in (1, 2, 4)})


class Scenarios(Quiet):
    def test_what_a_dict_may_hold(self):
        class Number:  # as NumPy has them
            def __init__(self, value):
                self.value = value

            def item(self):
                return self.value

        name = 'Ünï \U0001f600 "q" \\ #: {'
        changed = {**DICT, "name": name, "training": {**DICT["training"], "global_batch": Number(64), "tokens": 1e9},
                   "notes": ({"at": "1ms", "say": "- yes: no"},)}
        answer = orrery.run(changed)
        self.assertEqual(answer.scenario, name)
        self.assertEqual(answer.step_time_s, orrery.run(DICT).step_time_s)
        self.assertEqual(orrery.check({**DICT, "seed": 2}).seed, 2)
        self.assertEqual(orrery.run(DICT, set={"cluster": {"gpu": {"speed_spread": 1e-05}},
                                               "layout": {"sequence_parallel": False}, "layout.tp": Number(2)}).step_time_s,
                         line("run", HELLO, "--no-db", "--set=cluster.gpu.speed_spread=0.00001",
                              "--set=layout.sequence_parallel=false", "--set=layout.tp=2")["step_time_s"])

    def test_texts_that_are_set_are_themselves(self):
        texts = ["tuned #2", "a: b", "[x]", "{x: y}", "*x", "&x", "!x", '"q"', "it's", " lead", "trail ", "a\\b", "-", "- x", "? x",
                 "%x", "@x", "`x", "|", ">", "null", "true", "~", "1.0", "a,b", "a..b", "0x10", "K=V", "\u00dcn\u00ef \U0001f600"]
        for text in texts:
            with self.subTest(set=text):
                self.assertEqual(orrery.check(DICT, set={"name": text}).scenario, text)
        answer = orrery.run(DICT, set={"expect": {"mfu": ">= 1%", "scenario": "a: b"}, "name": "a: b"})
        self.assertEqual([e.holds for e in answer.expectations], [True, True])
        with self.assertRaises(orrery.ExpectationFailed):
            orrery.run(DICT, set={"expect": {"mfu": ">= 40%"}})
        noted = orrery.check(DICT, set={"notes": [{"at": "1ms", "say": "- a: #b"}], "layout.dp": "auto", "cluster.nodes": "2"})
        self.assertTrue(noted.valid)
        for text in ("\x85", "\u2028", "\ufeff"):  # a scenario takes them escaped alone
            self.assertEqual(orrery.check(DICT, set={"name": f"a{text}b"}).scenario, f"a{text}b")
        self.assertEqual(orrery.check(DICT, set=["name=tuned #2"]).scenario, "tuned")  # words of the command line
        # Of `import`, variables of a shell script, where quotes would be characters.
        pathlib.Path("own.sh").write_text("torchrun --nproc_per_node=8 pretrain_gpt.py --num-layers 2 --hidden-size 1024 "
                                          "--num-attention-heads 16 --seq-length 1024 --vocab-size 50304 "
                                          "--tensor-model-parallel-size $TP --micro-batch-size 1 --global-batch-size 8 --bf16\n")
        words = ["import", "megatron", "own.sh", "--gpu=h100-80gb-sxm", "--set=TP=2"]
        want = subprocess.run([orrery.binary(), *words], capture_output=True, text=True)
        self.assertEqual(want.returncode, 0, want.stderr)
        self.assertEqual(orrery.import_("megatron", "own.sh", gpu="h100-80gb-sxm", set={"TP": "2"}), want.stdout)

    def test_texts_that_vary(self):
        names = ["tuned 2", "tuned #2", "a: b", "[x]", "*x", '"q"', " lead", "null"]
        study = orrery.study(DICT, vary={"name": names, "layout.microbatch": [1]}, db="names.db")
        self.assertEqual(len(study.points), len(names))
        self.assertEqual([p.vary["name"] for p in study.points][:3], ["tuned 2", '"tuned #2"', '"a: b"'])
        for wrong in (["a,b", "c"], ["a..b"]):
            with self.assertRaisesRegex(ValueError, "vary name: '.*stands between values"):
                orrery.study(DICT, vary={"name": wrong})
        with self.assertRaisesRegex(ValueError, "vary name"):
            orrery.study(DICT, vary={"name": ["a,b", "c"]})
        words = orrery.study(DICT, vary={"layout.sharding": ["zero-0", "zero-1"], "training.precision": ("bf16", "fp8")})
        self.assertEqual([list(p.vary.values()) for p in words.points],
                         [["zero-0", "bf16"], ["zero-0", "fp8"], ["zero-1", "bf16"], ["zero-1", "fp8"]])

    def test_what_it_may_not(self):
        with self.assertRaisesRegex(TypeError, "a scenario cannot hold"):
            orrery.run({**DICT, "name": object()})
        with self.assertRaises(ValueError):
            orrery.run({**DICT, "training": {"sequence": float("nan")}})
        with self.assertRaisesRegex(TypeError, "gpus: "):
            orrery.plan(model="gpt2-124m", gpus=object())
        with self.assertRaisesRegex(TypeError, "walls: True or False"):
            orrery.explain(HELLO, walls="yes")

    def test_files_that_it_names_are_seen_from_the_working_folder(self):
        shape = {"model_type": "gpt2", "vocab_size": 50257, "n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 1024}
        pathlib.Path("own.json").write_text(json.dumps(shape))
        self.assertGreater(orrery.run({**DICT, "model": {"hf": "own.json"}}).step_time_s, 0)

    def test_nothing_is_written_unless_named(self):
        before = set(os.listdir("."))
        orrery.run(DICT), orrery.study(DICT, vary={"layout.tp": [1, 2]}), orrery.text("run", HELLO)
        self.assertEqual(set(os.listdir(".")), before)
        orrery.study(DICT, vary={"layout.tp": [1, 2]}, db="tp.db")
        self.assertEqual(set(os.listdir(".")) - before, {"tp.db"})
        self.assertEqual(len(orrery.study(DICT, vary={"layout.tp": [1, 2]}, db="tp.db", resume=True).points), 2)


class Failures(Quiet):
    def test_rejected(self):
        with self.assertRaises(orrery.ScenarioRejected) as caught:
            orrery.run(DICT, set={"layout.tq": 4, "layout.pp": "x"})
        error = caught.exception
        self.assertEqual((error.code, error.message), (3, "unknown key 'tq' in layout; did you mean 'tp'?"))
        self.assertEqual([(p.severity, p.file, p.line, p.column) for p in error.problems],
                         [("error", "--set", 1, 1), ("error", "--set", 2, 11)])
        self.assertIn("    1 | layout.tq=4\n      | ^", str(error))
        self.assertEqual(error.problems[0].shown.split("\n")[1:], ["    1 | layout.tq=4", "      | ^~~~~~~~~"])
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual((str(again), again.problems), (str(error), error.problems))

    def test_the_place_in_a_dict_is_a_line_of_its_own(self):
        with self.assertRaises(orrery.ScenarioRejected) as caught:
            orrery.run({**DICT, "layout": {**DICT["layout"], "schedul": "1f1b"}})
        self.assertRegex(str(caught.exception), r'\n +\d+ \|     "schedul": "1f1b"\n +\|     \^')

    def test_by_exit_code(self):
        for code, kind, call in [
            (1, orrery.Error, lambda: orrery.run("not-there.yaml")),
            (2, orrery.UsageError, lambda: orrery.run(HELLO, detail="foo")),
            (2, orrery.UsageError, lambda: orrery.export(HELLO)),
            (4, orrery.DoesNotFit, lambda: orrery.run(WALL, db="unfit.db") and orrery.explain("unfit.db")),
            (5, orrery.LimitReached, lambda: orrery.run(HELLO, db="small.db", max_db="10k")),
            (6, orrery.ExpectationFailed, lambda: orrery.run({**DICT, "expect": {"mfu": ">= 99%"}})),
        ]:
            with self.subTest(code=code), self.assertRaises(orrery.Error) as caught:
                call()
            self.assertEqual((type(caught.exception), caught.exception.code), (kind, code))
            self.assertTrue(caught.exception.message)
        self.assertIn("did you mean 'memory'", str(self.raised(ValueError, lambda: orrery.text("memry"))))

    def raised(self, kind, call):
        with self.assertRaises(kind) as caught:
            call()
        return caught.exception

    def test_what_does_not_fit_is_an_answer(self):
        answer = orrery.run(WALL)
        self.assertEqual((answer.fits, answer.exit_code), (False, 4))
        self.assertGreater(answer.first_failure.short_bytes, 0)
        self.assertEqual(orrery.memory(WALL).exit_code, 4)
        nothing = orrery.plan(model="llama3-70b", gpu="h100-80gb-sxm", gpus=2)
        self.assertEqual((nothing.layouts, nothing.exit_code), ([], 4))
        wrong = orrery.check(DICT, set={"layout.tp": 5})
        self.assertEqual((wrong.valid, wrong.exit_code), (False, 3))
        self.assertEqual(orrery.run(DICT).exit_code, 0)

    def test_what_is_expected(self):
        self.assertEqual(orrery.run({**DICT, "expect": {"fits": True, "rank_count": 8, "mfu": "> 1%"}}).exit_code, 0)
        error = self.raised(orrery.ExpectationFailed, lambda: orrery.run({**DICT, "expect": {"fits": False, "mfu": "> 1%"}}))
        self.assertEqual([problem.text for problem in error.problems if problem.severity == "error"],
                         ["expect.fits: expected false, but it is true"])
        self.assertTrue(error.result.fits)
        # Of what does not fit, too: the exit code 4 is of a run that expects nothing else.
        error = self.raised(orrery.ExpectationFailed, lambda: orrery.run(WALL, set={"expect": {"mfu": ">= 40%"}}))
        self.assertEqual((error.code, error.result.fits, error.result.expectations[0].holds), (6, False, False))
        self.assertEqual((orrery.run(WALL, set={"expect": {"rank_count": ">= 1"}}).exit_code), 4)

    def test_text_of_what_does_not_fit(self):
        self.assertIn("out of memory", orrery.text("run", WALL).lower())

    def test_a_warning_at_the_line_that_called(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            answer = orrery.run(DICT); here = inspect.currentframe().f_lineno
        self.assertEqual([(w.category, w.filename, w.lineno) for w in caught], [(orrery.OrreryWarning, __file__, here)])
        self.assertRegex(str(caught[0].message), r"^<stdin>:\d+:\d+: warning: layout.microbatch: costs .*\n.*\n.*\^$")
        self.assertEqual(answer.messages, ())
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            orrery.text("run", DICT); here = inspect.currentframe().f_lineno
        self.assertEqual([(w.filename, w.lineno) for w in caught], [(__file__, here)])

    def test_messages_are_what_is_said_besides(self):
        self.assertRegex("\n".join(orrery.run(HELLO, db="said.db").messages), r"^said.db: [0-9,]+ rows")

    def test_files_of_commands_without_a_document(self):
        orrery.run(HELLO, db="files.db", detail="op")
        self.assertIsNone(orrery.export("files.db", format="csv", table="breakdown", output="breakdown.csv"))
        self.assertEqual(pathlib.Path("breakdown.csv").read_bytes().decode(), orrery.text("export", "files.db", format="csv", table="breakdown"))
        self.assertIsNone(orrery.export("files.db", svg="gantt", output="gantt.svg"))
        self.assertIn("<svg", pathlib.Path("gantt.svg").read_text())
        self.assertIsNone(orrery.export("files.db", format="chakra", output="traces"))
        self.assertTrue(pathlib.Path("traces.0.et").read_bytes())
        self.assertIsNone(orrery.profile("shapes", HELLO, output="shapes.txt"))
        self.assertEqual(pathlib.Path("shapes.txt").read_text(), orrery.text("profile", "shapes", HELLO))
        for call in (lambda: orrery.export("files.db", format="csv"), lambda: orrery.profile("shapes", HELLO)):
            error = self.raised(orrery.UsageError, call)
            self.assertRegex(str(error), r"output=.*orrery\.text\('(export|profile)'")
            self.assertNotIn("--json goes", str(error))
        error = self.raised(orrery.UsageError, lambda: orrery.text("export", "files.db", format="chakra", rank=0))
        self.assertIn("binary, not text: give output=", str(error))
        error = self.raised(orrery.UsageError, lambda: orrery.export("files.db", format="csv", launch="megatron", output="x"))
        self.assertIn("leave out --format", str(error))
        self.assertEqual(orrery.export("files.db", launch="megatron").framework, "megatron")

    def test_text_where_there_is_no_document(self):
        self.assertIn('orrery.text("study"', str(self.raised(orrery.UsageError, lambda: orrery.study(
            HELLO, vary={"layout.tp": [1, 2]}, emit="slurm"))).replace("'", '"'))
        self.assertTrue(orrery.text("study", HELLO, vary={"layout.tp": [1, 2]}, emit="slurm").startswith("#!/bin/sh"))
        self.assertIn("no option 'foo'", str(self.raised(TypeError, lambda: orrery.text("run", HELLO, foo=1))))

    def test_another_program(self):
        pathlib.Path("plain").write_text("no program")
        pathlib.Path("broken").write_bytes(b"\x7fELF no program")
        os.chmod("broken", 0o755)
        try:
            for path, words in (("not-there", r"not-there \(ORRERY_BINARY\): there is no such program"),
                                ("/nonexist", r"/nonexist \(ORRERY_BINARY\): there is no such program"),
                                ("./plain", r"./plain \(ORRERY_BINARY\): may not be executed"),
                                ("./broken", "./broken: cannot be started: Exec format error"),
                                ("/bin/true", "/bin/true: printed nothing where `orrery doctor --json` prints a document"),
                                ("/bin/echo", r"/bin/echo, named by ORRERY_BINARY, is a program of Orrery")):
                os.environ["ORRERY_BINARY"] = path
                with self.subTest(path=path), self.assertRaisesRegex(orrery.Error, words) as caught:
                    orrery.doctor()
                self.assertTrue(caught.exception.message)
                self.assertEqual(str(pickle.loads(pickle.dumps(caught.exception))), str(caught.exception))
            os.environ["ORRERY_BINARY"] = "/bin/false"
            with self.assertRaisesRegex(orrery.Error, "exit code 1"):
                orrery.doctor()
        finally:
            del os.environ["ORRERY_BINARY"]


class Signatures(Quiet):
    """The functions are the program's table of options, and nothing else."""

    def setUp(self):
        super().setUp()
        done = subprocess.run([orrery.binary(), "schema", "--commands"], capture_output=True, text=True, check=True)
        self.commands = json.loads(done.stdout)["commands"]

    def test_every_command_and_option(self):
        for command in self.commands:
            name = command["name"] + ("_" if command["name"] == "import" else "")
            has_json = any(o["name"] == "--json" for o in command["options"])
            aside = {"--help", "--json"}
            if has_json:
                pairs = [{c["one"], c["other"]} for c in command["conflicts"]]
                aside |= {"-v"}.union(*[p for p in pairs if "--json" in p])
            want = [o["name"].lstrip("-").replace("-", "_") for o in command["options"] if o["name"] not in aside]
            function = getattr(orrery, name)
            parameters = inspect.signature(function).parameters.values()
            self.assertEqual([p.name for p in parameters if p.kind is p.KEYWORD_ONLY], want, name)
            words = [w for w in re.findall(r"[A-Z]+", (command["positional"] or "").replace(".csv", "")) if w]
            self.assertEqual(len([p for p in parameters if p.kind is not p.KEYWORD_ONLY]), len(words), name)
            for option in command["options"]:
                if option["name"] not in aside:
                    self.assertIn(option["doc"][:40], re.sub(r"\s+", " ", function.__doc__))
            needed = [p for p in parameters if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
            self.assertEqual(bool(needed), bool(command["positional"]) and command["positional"][0] != "["
                             and "..." not in command["positional"], name)

    def test_hints_of_every_function(self):
        import typing
        for name in orrery.__all__:
            function = getattr(orrery, name)
            if inspect.isfunction(function):
                self.assertIn("return", typing.get_type_hints(function), name)
        self.assertIs(typing.get_type_hints(orrery.run)["return"], orrery._commands.RunDocument)
        self.assertIs(typing.get_type_hints(orrery.export)["return"], typing.Optional[orrery._commands.ExportDocument])

    def test_a_key_that_python_keeps_has_an_underscore(self):
        import typing
        from orrery import _documents
        row = orrery.run({**DICT, "expect": {"rank_count": 8}}).expectations[0]
        self.assertEqual((row["is"], row.is_, row.key), (8, 8, "rank_count"))
        self.assertIn("is_", dir(row))
        self.assertNotIn("is", dir(row))
        self.assertIn("is_", typing.get_type_hints(_documents.RunExpectation))
        with self.assertRaises(AttributeError):
            row.in_

    def test_choices_are_literals(self):
        annotation = inspect.signature(orrery.run).parameters["detail"].annotation
        self.assertEqual(annotation, "Optional[Literal['summary', 'step', 'op', 'kernel', 'flow']]")
        hints = {name: getattr(_commands, name).__annotations__["return"] for name in ("run", "plan", "import_")}
        self.assertEqual(hints, {"run": "RunDocument", "plan": "PlanDocument", "import_": "str"})

    def test_documents_have_the_keys_and_types_of_their_classes(self):
        import typing
        from orrery import _documents
        rows = [f"[2026-11-03 00:00:{i:02d}] iteration {i:8d}/ 500 | elapsed time per iteration (ms): 80.0 |" for i in range(1, 41)]
        pathlib.Path("train.log").write_text("\n".join(rows) + "\n")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answers = {"run": orrery.run(HELLO, uncertainty=8), "memory": orrery.memory(HELLO), "check": orrery.check(HELLO),
                       "list": orrery.list(), "study": orrery.study(HELLO, vary={"layout.microbatch": [1, 2]}),
                       "watch": orrery.watch(HELLO, pathlib.Path("train.log")), "explain": orrery.explain(HELLO, walls=True),
                       "export": orrery.export(HELLO, launch="megatron"), "doctor": orrery.doctor(),
                       "plan": orrery.plan(HELLO, top=1), "collective": orrery.collective(gpus=8, max="1MiB")}

        def hold(value, hint, path):
            if hint is Any:
                return
            origin, arguments = typing.get_origin(hint), typing.get_args(hint)
            if origin is typing.Union:
                return value is None or hold(value, arguments[0], path)
            if origin is list:
                self.assertIsInstance(value, list, path)
                for item in value:
                    hold(item, arguments[0], path + "[]")
            elif hint is float:
                self.assertIn(type(value), (int, float), path)
            elif hint in (bool, int, str):
                self.assertIs(type(value), hint, path)
            else:
                self.assertIsInstance(value, orrery.Document, path)
                if hint is not orrery.Document:
                    keys = typing.get_type_hints(hint)
                    for key, item in value.items():
                        self.assertTrue(key in keys or hasattr(dict, key), f"{path}.{key}")
                        hold(item, keys.get(key, Any), f"{path}.{key}")

        for command, answer in answers.items():
            hold(answer, getattr(_documents, command.capitalize() + "Document"), command)
        self.assertIs(typing.get_type_hints(_documents.WatchDocument)["levels"], List[_documents.WatchLogLevel])

    def test_python_3_9_reads_every_file(self):
        folder = pathlib.Path(orrery.__file__).parent
        for path in folder.glob("*.py"):
            ast.parse(path.read_text(), str(path), feature_version=(3, 9))
        self.assertTrue((folder / "py.typed").exists())

    def test_a_star_import_leaves_builtins_alone(self):
        names = {}
        exec("from orrery import *", names)
        self.assertEqual({"list", "Any", "difflib"} & set(names), set())
        self.assertIn("plan", names)
        self.assertIn("import_", names)


class Documents(Quiet):
    def test_attributes(self):
        answer = orrery.run(HELLO)
        self.assertEqual(answer.breakdown.compute, answer["breakdown"]["compute"])
        self.assertAlmostEqual(sum(answer.breakdown.values()), answer.step_time_s, delta=1e-9 * answer.step_time_s)
        with self.assertRaisesRegex(AttributeError, "did you mean 'step_time_s'"):
            answer.step_times
        self.assertIn("mfu", dir(answer))
        self.assertIsInstance(answer.classes[0], orrery.Document)
        again = pickle.loads(pickle.dumps(answer))
        self.assertEqual((again, again.exit_code), (answer, 0))
        self.assertEqual(json.loads(json.dumps(answer)), answer)

    def test_a_notebook_shows_a_table(self):
        answer = orrery.run({**DICT, "name": "<b>&"})
        page = answer._repr_html_()
        self.assertIn("&lt;b&gt;&amp;", page)
        self.assertNotIn("<b>&", page)
        self.assertIn(f"<td>step_time_s</td><td>{1e3 * answer.step_time_s:.4g} ms</td>", page)
        self.assertIn(f"<td>mfu</td><td>{100 * answer.mfu:.1f} %</td>", page)
        self.assertIn(f"{answer.peak_reserved_bytes / 2**30:.4g} GiB", page)
        plan = orrery.plan(model="gpt2-124m", gpu="a100-80gb-sxm", gpus=2, sequence=1024, global_batch=8, top=3)
        self.assertEqual(plan._repr_html_().count("<tr>"), 4 + 1 + 3)
        self.assertIn("<th>step_time_s</th>", plan._repr_html_())
        self.assertEqual(repr(plan).count("\n"), 4 + 1 + 3)
        self.assertIn("5 more rows", orrery.list("gpus")._repr_html_())
        study = orrery.study(HELLO, vary={"layout.microbatch": [1, 2]})
        self.assertIn("<th>layout.microbatch</th><th>fits</th><th>tokens_per_s</th>", study._repr_html_())

    def test_cells_of_a_table(self):
        hostile = orrery.Document(schema="orrery.list/1", rows=[{"family": "<i>", "name": "&", "doc": None}])
        self.assertIn("<tr><td>&lt;i&gt;</td><td>&amp;</td></tr>", hostile._repr_html_())
        study = orrery.Document(schema="orrery.study/1", objective="x", points=[
            {"vary": {"k": 5}, "fits": True, "x": {"mean": 2.0, "ci95": [1.0, 3.0]}}])
        self.assertIn("<tr><td>5</td><td>yes</td><td>2</td><td>1</td><td>3</td></tr>", study._repr_html_())

    def test_what_is_shown_first_is_there(self):
        """A key that a document loses would be passed over in silence."""
        orrery.run(HELLO, db="shown.db")
        runs = orrery.run(SCENARIOS / "weeks" / "silent-corruption.yaml")
        small = dict(model="gpt2-124m", gpu="a100-80gb-sxm", global_batch=16)
        documents = [runs, orrery.memory(HELLO), orrery.check(HELLO), orrery.check(DICT), orrery.plan(**small, gpus=2),
                     orrery.plan(**small, vary={"cluster.gpus": [8, 16]}), orrery.study(HELLO, vary={"layout.tp": [1, 2]}),
                     orrery.explain(HELLO, walls=True), orrery.explain("shown.db"), orrery.compare("shown.db", HELLO),
                     orrery.export(HELLO, launch="megatron"), orrery.lesson("bubble"), orrery.collective(gpus=2, max=8),
                     orrery.list("gpus"), orrery.doctor(), orrery.validate(SOURCES / "tests/validation/layers.csv")]
        found = {d.schema[7:].split("/")[0]: d for d in documents}
        self.assertEqual(set(found), set(_document.FIGURES) | set(_document.TABLES))
        for kind, keys in _document.FIGURES.items():
            self.assertEqual([k for k in keys.split() if k not in found[kind]], [], kind)
        for kind, (rows, columns) in _document.TABLES.items():
            first = found[kind][rows][0]
            lacking = [c for c in columns.split() if c.split(".")[-1] not in (first["layout"] if "." in c else first)]
            self.assertEqual(lacking, [], kind)

    def test_values_for_people(self):
        for key, value, text in [
            ("step_time_s", 0.0744, "74.4 ms"), ("seconds", 90, "1.5 min"), ("p10", 2.5, "2.5 s"), ("a_s", -1e-3, "-1 ms"),
            ("a_s", 0.0, "0"), ("a_s", -3e-15, "0"), ("wall_s", 2 * 86400, "2 d"), ("mfu", 0.4567, "45.7 %"),
            ("bubble_ratio", 1.0, "100.0 %"), ("peak_reserved_bytes", 2.0**31, "2 GiB"), ("bytes", 1024, "1 KiB"),
            ("busbw_bytes_per_s", 8.03e10, "80.3 GB/s"), ("tokens_per_s", 1.5e6, "1.5 M"), ("cost_usd", 1234.5, "1,234.50 USD"),
            ("cost_usd_per_step", 0.00031, "0.00031 USD"), ("parameters", 124.4e6, "124.4 M"), ("gpus", 16384, "16,384"),
            ("x", 0.123456, "0.1235"), ("fits", True, "yes"), ("fits", False, "no"), ("x", None, "-"), ("x", "a", "a"),
            ("x", float("inf"), "inf"),
        ]:
            self.assertEqual(_document.shown(key, value), text, key)


class Frames(Quiet):
    def setUp(self):
        super().setUp()
        orrery.run(HELLO, db="frame.db")
        self.addCleanup(os.unlink, "frame.db")

    def without_pandas(self, call):
        """As where it is not installed: an entry of None ends the import."""
        held = sys.modules.get("pandas")
        sys.modules["pandas"] = None
        try:
            return call()
        finally:
            sys.modules.pop("pandas")
            if held is not None:
                sys.modules["pandas"] = held

    def test_rows_as_dicts(self):
        rows = self.without_pandas(lambda: orrery.frame("frame.db", "breakdown"))
        answer = orrery.report("frame.db")
        self.assertEqual({r["part"]: r["seconds"] for r in rows}, dict(answer.breakdown))
        one = self.without_pandas(lambda: orrery.frame("frame.db", "select part from breakdown where part = ?", ["host"]))
        self.assertEqual(one, [{"part": "host"}])

    def test_rows_as_a_frame_of_pandas(self):
        calls = []
        fake = types.ModuleType("pandas")
        fake.DataFrame = lambda rows, columns: calls.append((rows, columns)) or "frame"
        held = sys.modules.get("pandas")
        sys.modules["pandas"] = fake
        try:
            self.assertEqual(orrery.frame("frame.db", "select 1 as a, 2 as b"), "frame")
        finally:
            sys.modules.pop("pandas")
            if held is not None:
                sys.modules["pandas"] = held
        self.assertEqual(calls, [([(1, 2)], ["a", "b"])])

    def test_a_database_is_only_read(self):
        import sqlite3
        with self.assertRaises(sqlite3.OperationalError):
            orrery.frame("frame.db", "delete from run")
        with self.assertRaises(FileNotFoundError):
            orrery.frame("none.db", "run")
        self.assertFalse(os.path.exists("none.db"))


STUDY = f"""
import orrery, sys
print("begins", flush=True)
try:
    orrery.study({str(WEEKS)!r}, vary={{"checkpoint.interval": "1min..4h:log:25"}}, seeds=100000, threads=1, db="long.db")
except orrery.Interrupted as stop:
    print("stopped", isinstance(stop, KeyboardInterrupt), "--resume" in str(stop), flush=True)
except KeyboardInterrupt:
    print("bare", flush=True)
"""


class Interrupts(unittest.TestCase):
    def begin(self, code=STUDY, **options):
        pathlib.Path("long.db.partial").unlink(missing_ok=True)
        code = code.replace("seeds=100000", "seeds=8000")
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, start_new_session=True, **options)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.addCleanup(process.stdout.close)
        self.assertEqual(process.stdout.readline(), "begins\n")
        limit = time.monotonic() + 60
        while not self.points("long.db.partial") and time.monotonic() < limit:
            time.sleep(0.05)  # until it is at work
        (child,) = self.children(process)
        self.assertEqual(os.getpgid(int(child)), int(child), "a terminal would send it Ctrl-C too")
        return process, child

    @staticmethod
    def children(process):
        task = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
        return [pid for pid in task.read_text().split()
                if pathlib.Path(f"/proc/{pid}/exe").resolve().name == "orrery"]

    def end(self, process, child):
        out = process.stdout.read()
        process.wait(60)
        self.assertFalse(pathlib.Path(f"/proc/{child}").exists(), "the command goes on")
        return out

    def test_ctrl_c_twice_ends_the_command(self):
        process, child = self.begin(stderr=subprocess.PIPE)
        self.addCleanup(process.stderr.close)
        process.send_signal(signal.SIGINT)
        self.assertTrue(any("again to stop" in line for line in process.stderr))
        time.sleep(1.0)  # signals that come at once are one signal
        self.assertTrue(pathlib.Path(f"/proc/{child}").exists(), "it does not end in good order")
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        self.assertRegex(self.end(process, child), r"^stopped True ")
        self.assertLess(time.monotonic() - begin, 20)

    def test_another_exception_ends_it_too(self):
        code = STUDY.replace("import orrery, sys", "import orrery, sys, signal\nsignal.signal(signal.SIGALRM, "
                             "lambda *_: (_ for _ in ()).throw(TimeoutError()))")
        process, child = self.begin(code + "except TimeoutError: print('late')")
        process.send_signal(signal.SIGALRM)
        self.assertEqual(self.end(process, child), "late\n")

    def test_ctrl_c_keeps_what_is_done(self):
        short = STUDY.replace("seeds=100000", "seeds=400")
        process = subprocess.Popen([sys.executable, "-c", short.replace("long.db", "kept.db")], stdout=subprocess.PIPE, text=True,
                                   stderr=subprocess.DEVNULL, start_new_session=True)
        self.addCleanup(process.kill)
        self.addCleanup(process.stdout.close)
        process.stdout.readline()
        limit = time.monotonic() + 60
        while time.monotonic() < limit and not self.points("kept.db.partial"):
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.stdout.read(), "stopped True True\n")
        self.assertEqual(os.listdir(tempfile.gettempdir()), [])
        process.wait(60)
        self.assertGreater(self.points("kept.db.partial"), 0)

    @staticmethod
    def points(path):
        try:
            return len(orrery.frame(path, "select * from study_result limit 1"))
        except Exception:
            return 0

    def test_a_terminal_where_no_other_is_to_be_had(self):
        class Terminal(io.StringIO):
            def isatty(self):
                return True

        with mock.patch.object(os, "openpty", side_effect=OSError("out of pty devices")), \
                mock.patch.object(sys, "stderr", Terminal()):
            self.assertGreater(timeless(orrery.run(HELLO))["step_time_s"], 0.0)

    def test_progress_on_a_terminal(self):
        """Python's standard error is a terminal: the line that renews itself is passed on, and is no message."""
        code = STUDY.replace("long.db", "shown.db").replace('"--resume" in str(stop)', "repr(stop.text)")
        try:
            mine, theirs = pty.openpty()
        except OSError:
            self.skipTest("there is no pseudo-terminal here")
        process = subprocess.Popen([sys.executable, "-W", "ignore", "-c", code], stdout=subprocess.PIPE, stderr=theirs, text=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        os.close(theirs)
        screen, shown = b"", False
        while process.poll() is None or select.select([mine], [], [], 0)[0]:
            if select.select([mine], [], [], 0.2)[0]:
                try:
                    screen += os.read(mine, 65536)
                except OSError:
                    break
            if not shown and re.search(rb"\r\x1b\[K[^\r]* done, [^\r]* left", screen):
                shown = True
                process.send_signal(signal.SIGINT)  # however fast the machine is, it was at work
        os.close(mine)
        out = process.stdout.read()
        process.stdout.close()
        self.assertTrue(shown, repr(screen))
        self.assertTrue(screen.decode().endswith("\r\x1b[K"), repr(screen[-80:]))
        self.assertRegex(out, r"stopped True .*--resume")
        self.assertNotIn(" left", out)
        self.assertNotIn("\\x1b", out)


class Wheel(unittest.TestCase):
    def test_size(self):
        self.assertLess(os.path.getsize(os.environ["WHEEL"]), 3.5e6)

    def test_version_and_command(self):
        want = subprocess.run([orrery.binary(), "--version"], capture_output=True, text=True).stdout
        self.assertEqual(want, f"orrery {orrery.__version__}\n")
        self.assertEqual(os.path.basename(os.environ["WHEEL"]).split("-")[1], orrery.__version__)
        for words in ([sys.executable, "-m", "orrery"], [os.path.join(os.path.dirname(sys.executable), "orrery")]):
            if words[0] != sys.executable and not os.path.exists(words[0]):
                continue  # unpacked, not installed
            self.assertEqual(subprocess.run([*words, "--version"], capture_output=True, text=True).stdout, want)
            self.assertEqual(subprocess.run([*words, "nothing"], capture_output=True).returncode, 2)

    def test_needs_nothing_where_its_name_says_so(self):
        """A program without libraries runs in a folder that holds nothing else."""
        if "manylinux_2_17" not in os.environ["WHEEL"] or os.geteuid() != 0:
            self.skipTest("the program of this tree needs shared libraries, or this is not root")
        with tempfile.TemporaryDirectory() as root, zipfile.ZipFile(os.environ["WHEEL"]) as wheel:
            program = pathlib.Path(root) / "orrery"
            program.write_bytes(wheel.read("orrery/bin/orrery"))
            program.chmod(0o755)
            words = ["plan", "--model=gpt2-124m", "--gpu=a100-80gb-sxm", "--gpus=2", "--sequence=1024", "--global-batch=8", "--json"]
            alone = subprocess.run(["chroot", root, "/orrery", *words], capture_output=True, text=True, check=True)
            self.assertEqual(timeless(json.loads(alone.stdout)), timeless(line(*words[:-1])))

    def test_first_plan_in_five_seconds(self):
        code = ("import orrery; p = orrery.plan(model='llama3-8b', gpu='h100-80gb-sxm', gpus=64, global_batch=512); "
                "assert p.layouts[0].step_time_s > 0")
        begin = time.monotonic()
        subprocess.run([sys.executable, "-c", code], check=True, stderr=subprocess.DEVNULL)
        print(f"first plan: {time.monotonic() - begin:.1f} s after the first line of Python")
        self.assertLess(time.monotonic() - begin, 30)  # 5 on an idle machine; tests share theirs


if __name__ == "__main__":
    unittest.main()
