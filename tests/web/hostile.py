#!/usr/bin/env python3
"""Hostile requests to `orrery replay` on 127.0.0.1: each must be refused, change nothing and leak nothing, and the server lives.

usage: hostile.py ORRERY SCENARIOS          (bounded: about a thousand connections, a few seconds)"""
import hashlib, json, os, pathlib, signal, socket, sqlite3, struct, subprocess, sys, tempfile, time, unittest

ORRERY, SCENARIOS = map(os.path.abspath, sys.argv[1:3])
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="orrery-hostile-"))
os.environ["TMPDIR"] = tempfile.mkdtemp(prefix="orrery-hostile-tmp-")


def orrery(*args, check=True):
    return subprocess.run([ORRERY, *args], cwd=FOLDER, capture_output=True, text=True, check=check)


class Server:
    def __init__(self, *dbs):
        self.child = subprocess.Popen([ORRERY, "replay", *dbs], cwd=FOLDER, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.child.stdout.readline()
        if "127.0.0.1" not in line:
            raise RuntimeError(self.child.communicate()[1])
        self.port = int(line.split(":")[2].split("/")[0])

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=20)

    def raw(self, data, limit=1 << 26, wait=20):
        """What comes back for these bytes until the server closes or says nothing for a while; b'' when it hangs up."""
        with self.connect() as s:
            try:
                s.sendall(data)
                s.settimeout(wait)
                out = b""
                while len(out) < limit:
                    part = s.recv(65536)
                    if not part:
                        break
                    out += part
                    head, _, body = out.partition(b"\r\n\r\n")
                    for line in head.lower().split(b"\r\n"):
                        if line.startswith(b"content-length:") and len(body) >= int(line.split(b":")[1]):
                            return out
                return out
            except (ConnectionError, socket.timeout):
                return b""

    def ask(self, path, method="GET", host=None, headers=(), body=b""):
        lines = [f"{method} {path} HTTP/1.1", f"Host: {host or f'127.0.0.1:{self.port}'}", *headers, "", ""]
        answer = self.raw("\r\n".join(lines).encode("latin-1") + body)
        head, _, body = answer.partition(b"\r\n\r\n")
        return int(head.split()[1]) if head else 0, head.decode("latin-1").lower(), body

    def post(self, path, body, origin=None):
        own = origin or f"http://127.0.0.1:{self.port}"
        return self.ask(path, "POST", headers=(f"Origin: {own}", f"Content-Length: {len(body)}"), body=body)

    def alive(self):
        return self.child.poll() is None and self.ask("/api/run")[0] == 200

    def stop(self):
        self.child.terminate()
        self.child.wait(10)
        self.child.stdout.close()
        self.child.stderr.close()


orrery("run", f"{SCENARIOS}/hello-8-gpus.yaml", "--db", "a.db")


def digest():
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(FOLDER.iterdir()) if p.is_file()}


class Hostile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        (FOLDER / "secret.txt").write_text("secret-of-the-folder")
        cls.before = digest()
        cls.server = Server("a.db")

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        left = [p.name for p in pathlib.Path(os.environ["TMPDIR"]).iterdir() if p.name.startswith("orrery-what-if")]
        if left:
            raise AssertionError(f"folders were left: {left}")
        if digest() != cls.before:
            raise AssertionError("something was changed in the folder")

    def tearDown(self):
        self.assertTrue(self.server.alive())

    def test_the_page_and_its_documents_are_there(self):
        status, head, body = self.server.ask("/")
        self.assertEqual(status, 200)
        for line in ("content-security-policy: default-src 'none'; script-src 'sha256-", "frame-ancestors 'none'", "x-content-type-options: nosniff", "x-frame-options: deny", "cache-control: no-store"):
            self.assertIn(line, head)
        self.assertNotIn("access-control-allow", head)
        for path in ("/api/run", "/api/slices?level=pass", "/api/slices?db=0&class=1&from=0&to=5000000", "/api/memory", "/api/weeks"):
            status, _, body = self.server.ask(path)
            self.assertEqual(status, 200, path)
            json.loads(body)

    def test_only_on_this_address(self):
        for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
            address, port = line.split()[1].split(":")
            if int(port, 16) == self.server.port and line.split()[3] == "0A":
                self.assertEqual(address, "0100007F")

    def test_foreign_hosts(self):
        port = self.server.port
        for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", "127.0.0.1:1", f"127.0.0.1.evil.example:{port}", f"0.0.0.0:{port}", f"[::1]:{port}", f"127.0.0.1:{port}@evil", "", f" localhost:{port}x", "x" * 3000):
            self.assertIn(self.server.ask("/api/run", host=host or " ")[0], (0, 400, 403), host)
        self.assertIn(self.server.raw(b"GET /api/run HTTP/1.1\r\n\r\n").split(b" ")[1:2], ([], [b"403"], [b"400"]))
        self.assertEqual(self.server.ask("/api/run", host=f"localhost:{port}")[0], 200)

    def test_foreign_origins(self):
        port = self.server.port
        for origin in ("http://evil.example", "null", f"https://127.0.0.1:{port}", "http://127.0.0.1:1", f"http://127.0.0.1:{port}.evil.example", f"http://localhost:{port}", "file://"):
            self.assertEqual(self.server.ask("/api/run", headers=(f"Origin: {origin}",))[0], 403, origin)
        self.assertEqual(self.server.ask("/api/run", headers=(f"Origin: http://127.0.0.1:{port}",))[0], 200)

    def test_traversal(self):
        for path in ("/secret.txt", "/../secret.txt", "/..%2fsecret.txt", "/%2e%2e/secret.txt", "/api/../secret.txt", "/api/run/../../secret.txt", "//secret.txt", "/api/run%00", "/a.db", "/api/run.", "/API/RUN", "/proc/self/environ", "file:///etc/passwd", "/index.html", "/\\..\\secret.txt", "/%00x", "/%00/secret.txt"):
            status, _, body = self.server.ask(path)
            self.assertIn(status, (0, 400, 403, 404), path)
            self.assertNotIn(b"secret-of", body)
            self.assertNotIn(b"SQLite format", body)

    def test_sql_in_every_field(self):
        words = ("0;drop table run", "0'or'1'='1", "1 union select value from meta", "0--", "-1", "1e9", "0x1", "99999999999999999999", "", "%27", "1%20or%201", "NaN", "\u00e9")
        for name in ("db", "class", "from", "to", "level"):
            for word in words:
                status, _, body = self.server.ask(f"/api/slices?{name}={word.replace(' ', '%20')}".encode().decode("latin-1"))
                self.assertIn(status, (0, 400, 404), f"{name}={word}")
                self.assertNotIn(b"select", body)
        for more in ("table=meta", "sql=select%201", "db", "=", "db=0&x=1", "a" * 700 + "=1"):
            self.assertIn(self.server.ask(f"/api/run?{more}")[0], (0, 400), more[:40])
        self.assertEqual(self.server.ask("/api/run?db=1")[0], 404)

    def test_other_methods_and_upgrades(self):
        own = (f"Origin: http://127.0.0.1:{self.server.port}",)
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT", "BREW"):
            self.assertIn(self.server.ask("/api/run", method, headers=(*own, "Content-Length: 0"))[0], (0, 400, 403, 404, 405), method)
        upgrade = ("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13")
        self.assertNotEqual(self.server.ask("/", headers=upgrade)[0], 101)
        self.assertNotEqual(self.server.ask("/", headers=("Upgrade: h2c", "Connection: Upgrade, HTTP2-Settings", "HTTP2-Settings: AAMAAABkAAQAAP__"))[0], 101)

    def test_oversized_and_broken_frames(self):
        port = self.server.port
        start = f"GET /api/run HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n".encode()
        for data in (b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\n\r\n", start + b"X: " + b"y" * 200000 + b"\r\n\r\n", start + b"X: y\r\n" * 20000 + b"\r\n", os.urandom(4096), b"\0" * 10000, b"\r\n" * 5000,
                     b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\xff" * 9000, start + b"Content-Length: -5\r\n\r\n", start + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n", b"\x16\x03\x01\x02\x00\x01\x00" + os.urandom(500)):
            answer = self.server.raw(data, 1 << 20, 2)
            self.assertNotIn(b"secret-of", answer)
        body = f"POST /api/run HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\nContent-Length: 999999999\r\n\r\n".encode() + b"z" * 3000000
        self.assertNotIn(b" 200 ", self.server.raw(body, wait=2)[:20])

    def test_simulations_for_foreign_pages(self):
        text = (pathlib.Path(SCENARIOS) / "hello-8-gpus.yaml").read_text()
        body = json.dumps({"text": text, "sets": []}).encode()
        for path in ("/api/check", "/api/what-if"):
            self.assertEqual(self.server.post(path, body, "http://evil.example")[0], 403)
            self.assertEqual(self.server.ask(path, "POST", headers=(f"Content-Length: {len(body)}",), body=body)[0], 403, "without Origin")
            self.assertEqual(self.server.ask(path)[0], 405)
        self.assertEqual(self.server.post("/api/check", body)[0], 200)
        self.assertEqual(self.server.ask("/api/run?db=1")[0], 404, "nothing was simulated")

    def test_hostile_simulations(self):
        text = (pathlib.Path(SCENARIOS) / "hello-8-gpus.yaml").read_text()
        good = {"text": text, "sets": []}
        for body in (b"x", b"[]", b"{}", b"null", b'{"text": 5}', b"[" * 100000, b'{"text": "\\u0000"}', json.dumps({**good, "sets": ["x"]}).encode(), json.dumps({**good, "sets": ["a=1"] * 1000}).encode(),
                     json.dumps({**good, "sets": ["--db=/tmp/x", "layout.tp=$(touch pwned)", "layout.tp=;touch pwned", "name=`touch pwned`"]}).encode(), json.dumps({"text": "model: {hf: /etc/passwd}"}).encode(),
                     json.dumps({"text": "a: " + "[" * 50000}).encode(), json.dumps({**good, "strike": {"at_s": -1, "node": 0}}).encode(), json.dumps({**good, "strike": {"at_s": 1e300, "node": "x"}}).encode(),
                     json.dumps({**good, "strike": {"at_s": 1, "node": 0}}).encode(), json.dumps({**good, "sets": [5, None, {}]}).encode()):
            for path in ("/api/check", "/api/what-if"):
                status, _, answer = self.server.post(path, body)
                self.assertIn(status, (0, 200, 500), body[:60])
                if status == 200:
                    self.assertFalse(json.loads(answer).get("valid"), body[:60])
                self.assertNotIn(b"root:x:", answer)
        self.assertFalse((FOLDER / "pwned").exists())
        self.assertIn(self.server.post("/api/check", b"y" * 300000)[0], (0, 413))
        self.assertEqual(self.server.ask("/api/check", "POST", headers=(f"Origin: http://127.0.0.1:{self.server.port}", "Transfer-Encoding: chunked"), body=b"1\r\nx\r\n0\r\n\r\n")[0] in (0, 400, 411, 413), True)

    def test_who_leaves_during_a_simulation(self):
        text = (pathlib.Path(SCENARIOS) / "llama3-70b-64xh100.yaml").read_text()
        body = json.dumps({"text": text}).encode()
        head = f"POST /api/what-if HTTP/1.1\r\nHost: 127.0.0.1:{self.server.port}\r\nOrigin: http://127.0.0.1:{self.server.port}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        for _ in range(3):
            with self.server.connect() as s:
                s.sendall(head + body)
                time.sleep(0.05)
        limit = time.monotonic() + 120 # of a machine with much else to do
        while self.server.post("/api/check", json.dumps({"text": text}).encode())[0] != 200:
            self.assertLess(time.monotonic(), limit, "still busy")
            time.sleep(0.1)

    def test_a_thousand_connections(self):
        sockets = []
        for _ in range(1000):
            try:
                s = socket.socket()
                s.setblocking(False)
                s.connect_ex(("127.0.0.1", self.server.port))
                sockets.append(s)
            except OSError:
                break
        self.assertGreater(len(sockets), 900)
        for s in sockets:
            s.close()
        time.sleep(0.3)

    def test_who_says_nothing_keeps_nobody_out_and_is_left(self):
        silent = []
        for _ in range(300):
            s = socket.socket()
            s.setblocking(False)
            s.connect_ex(("127.0.0.1", self.server.port))
            silent.append(s)
        began = time.monotonic()
        self.assertEqual(self.server.ask("/api/run")[0], 200)
        self.assertLess(time.monotonic() - began, 1.5, "silent ones stand in the way")
        for s in (silent[0], silent[-1]):
            s.settimeout(20)
            try:
                self.assertEqual(s.recv(1), b"")
            except ConnectionResetError:
                pass
        self.assertLess(time.monotonic() - began, 6, "silent ones are kept")
        for s in silent:
            s.close()

    def test_a_connection_is_used_again_and_then_left(self):
        own = f"GET /api/memory HTTP/1.1\r\nHost: 127.0.0.1:{self.server.port}\r\n\r\n".encode()
        with self.server.connect() as s:
            for wait in (0, 0.1, 3):  # longer than a new one has
                time.sleep(wait)
                s.sendall(own)
                self.assertIn(b" 200 ", s.recv(65536)[:20], f"after {wait} s")
                s.settimeout(0.3)
                try:
                    while s.recv(65536):
                        pass
                except socket.timeout:
                    pass
                s.settimeout(20)

    def test_half_requests_do_not_keep_others_out(self):
        with_half = []
        for _ in range(20):
            s = self.server.connect()
            s.sendall(b"GET /api/run HTTP/1.1\r\nHost: 127")
            with_half.append(s)
        self.assertEqual(self.server.ask("/api/run")[0], 200)
        for s in with_half:
            s.close()

    def test_a_slow_reader_keeps_nobody_waiting(self):
        slow = []
        for _ in range(8):
            s = socket.socket()
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            s.connect(("127.0.0.1", self.server.port))
            s.sendall(f"GET /api/slices HTTP/1.1\r\nHost: 127.0.0.1:{self.server.port}\r\n\r\n".encode())
            slow.append(s)
        time.sleep(0.2)
        began = time.monotonic()
        self.assertEqual(self.server.ask("/api/run")[0], 200)
        self.assertLess(time.monotonic() - began, 5)
        for s in slow:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            s.close()  # with a reset, in the middle of an answer


class Ends(unittest.TestCase):
    def test_it_ends_at_once_with_clients_in_every_state(self):
        for number, code in ((signal.SIGTERM, 143), (signal.SIGINT, 130)):
            server = Server("a.db")
            clients = [server.connect() for _ in range(20)]
            for s in clients[:5]:
                s.sendall(b"GET /api/run HTTP/1.1\r\nHost: 127")
            for s in clients[5:10]:
                s.sendall(f"GET /api/slices HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode())
            time.sleep(0.2)
            began = time.monotonic()
            server.child.send_signal(number)
            self.assertEqual(server.child.wait(10), code)
            self.assertLess(time.monotonic() - began, 1.5)
            self.assertIn("interrupted", server.child.stderr.read())
            server.stop()
            for s in clients:
                s.close()


    def test_one_that_holds_as_many_runs_as_it_can_says_so(self):
        server, body = Server("a.db"), json.dumps({"text": (pathlib.Path(SCENARIOS) / "hello-8-gpus.yaml").read_text()}).encode()
        for number in range(1, 10):
            status, _, answer = server.post("/api/what-if", body)
            self.assertEqual((status, json.loads(answer)), (200, {"db": number}))
        status, _, answer = server.post("/api/what-if", body)
        self.assertEqual(status, 507)
        self.assertIn(b"as many runs as it holds: end it and start it again", answer)
        self.assertEqual(server.ask("/api/run?db=9")[0], 200)
        self.assertIn(b'"count":1}', server.ask("/")[2], "the page is of the runs of the command line")
        server.stop()


class Strikes(unittest.TestCase):
    """A node struck on the page: the run's own failures stay what they were, keys that no row of a trace holds included."""

    TEXT = """model: {preset: llama3-8b}
cluster: {gpu: h100-80gb-sxm, node: dgx-h100, nodes: 16, fabric: ib-ndr-8x400}
training: {sequence: 8192, global_batch: 64, attention: flash3}
layout: {tp: 8, sharding: zero-1, recompute: selective, sequence_parallel: true}
run: {duration: 20d}
checkpoint: {policy: async, interval: 10min, storage: host+pfs, keep: 50}
recovery: {policy: hot-spare, spares: 2, repair: 8h}
failures: """
    KEYS = ("{cause: a, unit: domain, domain_nodes: 4, mtbf: 20d}", "{cause: it's \"slow\", unit: gpu, mtbf: 1y, effect: slow, slow: 0.5, slow_time: 1d, detect: {mean: 2h, law: lognormal, shape: 0.5}}",
            "{cause: c, unit: gpu, mtbf: 1y, effect: corrupt, detect: 1h}")

    BY_LAWS = ("young_interval_s", "daly_interval_s", "exact_interval_s", "job_mtbf_s")  # of a trace another rate is known than of laws

    def weeks(self, server, db):
        status, _, body = server.ask(f"/api/run?db={db}")
        self.assertEqual(status, 200)
        run = json.loads(body)["run"]
        return {key: value for key, value in zip(run["columns"], run["rows"][0]) if key not in ("name", "title", "scenario", *self.BY_LAWS)}

    def test_other_failures_keep_their_keys(self):
        struck_before = "{cause: struck on the page, unit: node, mtbf: 60d}"
        for name, failures in (("k.db", self.KEYS), ("p.db", (r'{cause: "n\u200b", unit: node, mtbf: 200d}',)), ("s.db", (struck_before, *self.KEYS))):
            (FOLDER / "k.yaml").write_text(self.TEXT + f"[{', '.join(failures)}]")
            orrery("run", "k.yaml", "--db", name)
            server = Server(name)
            # Behind the end nothing is struck: the same weeks. On the fifth day it is one failure more.
            for number, day in enumerate((30, 5), 1):
                body = json.dumps({"text": (FOLDER / "k.yaml").read_text(), "strike": {"at_s": day * 86400, "node": 3}}).encode()
                status, _, answer = server.post("/api/what-if", body)
                self.assertEqual((status, answer), (200, b'{"db":%d}' % number))
                own, struck = self.weeks(server, 0), self.weeks(server, number)
                self.assertGreater(own["failures"], 0)
                if day == 30:
                    self.assertEqual(own, struck)
                else:
                    self.assertNotEqual(own["useful_s"], struck["useful_s"])
                    self.assertIn(b"struck on the page", server.ask(f"/api/weeks?db={number}")[2])
            server.stop()


class Databases(unittest.TestCase):
    def serve(self, name, prepare):
        path = FOLDER / name
        path.write_bytes((FOLDER / "a.db").read_bytes())
        prepare(path)
        try:
            return Server(name)
        except RuntimeError as e:
            self.assertIn("orrery replay:", str(e))
            return None

    def sql(self, text):
        def change(path):
            with sqlite3.connect(path) as c:
                c.executescript(text)
            c.close()
        return change

    def every(self, server):
        for path in ("/", "/api/run", "/api/slices", "/api/slices?level=pass", "/api/memory", "/api/weeks"):
            status, _, body = server.ask(path)
            self.assertIn(status, (200, 500), path)
            if status == 200 and path != "/":
                json.loads(body)
        self.assertIsNone(server.child.poll())
        server.stop()

    def test_truncated_foreign_and_changed_ones_are_refused(self):
        data = (FOLDER / "a.db").read_bytes()
        for name, prepare in (("half.db", lambda p: p.write_bytes(data[: len(data) // 2])), ("empty.db", lambda p: p.write_bytes(b"")), ("text.db", lambda p: p.write_text("hello")),
                              ("foreign.db", self.sql("pragma application_id = 5")), ("old.db", self.sql("pragma user_version = 1")),
                              ("view.db", self.sql("drop view note; create view note as with recursive n(i) as (select 1 union all select i + 1 from n) select i as id, i as ts, 'x' as text, 1 as run from n"))):
            server = self.serve(name, prepare)
            if server:
                self.every(server)
            self.assertTrue(name == "half.db" or server is None, name)

    def test_rows_that_no_run_writes(self):
        many = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 300000) "
        for i, text in enumerate(("update slice_raw set ts = -1", "update slice_raw set dur = 9223372036854775807", "update slice_raw set track_id = 12345", "delete from run", "delete from rank_class",
                                  "update run set step_s = 9e999, wall_s = -9e999",
                                  "update string set text = cast(x'fffe00' as text)", many + "insert into string select i + 1000, hex(randomblob(8)) from n", many + "insert into counter_raw select 1, i, 9e999 from n",
                                  "update run set title = hex(zeroblob(4000000))")):
            server = self.serve(f"rows{i}.db", self.sql(text))
            if server:
                self.every(server)

    def test_one_that_is_being_written(self):
        path = FOLDER / "busy.db"
        path.write_bytes((FOLDER / "a.db").read_bytes())
        server = Server("busy.db")
        with sqlite3.connect(path, isolation_level=None) as c:
            c.execute("begin exclusive")
            status, _, body = server.ask("/api/run")
            self.assertIn(status, (200, 500))
            c.execute("update run set step_s = 42.5")
            c.execute("commit")
        c.close()
        status, _, body = server.ask("/api/run")
        self.assertEqual(status, 200)
        self.assertIn(b"42.5", body)
        server.stop()


if __name__ == "__main__":
    orrery("run", os.path.join(SCENARIOS, "hello-8-gpus.yaml"), "--db", "page.db")
    if "without its page" in orrery("replay", "page.db", "--html", "page.html", check=False).stderr:
        print("orrery was built without its page: skipped")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
