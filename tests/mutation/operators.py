"""One-line faults of C source: where they can be made and what they turn the line into.

A site is (line number, operator, mutated line). Comments, strings, directives and claims of CHECK
are left alone: a fault in them changes no behaviour that a test could notice."""
import re

RELATIONS = {"<": ["<=", ">"], "<=": ["<"], ">": [">=", "<"], ">=": [">"], "==": ["!="], "!=": ["=="]}
ARITHMETIC = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "*"}
LOGIC = {"&&": "||", "||": "&&"}
ASSIGNMENT = {"+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=", "|=": "&="}
TWINS = {"fmin": "fmax", "fmax": "fmin", "true": "false", "false": "true", "floor": "ceil",
         "ceil": "floor"}
DECLARED = re.compile(r"^(const|static|struct|enum|unsigned|double|bool|char|int|size_t|u?int\d+_t|void|FILE)\b")
OPERAND = r"[A-Za-z0-9_.\]\)]"


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def mask_sql(text):
    return re.sub(r"--[^\n]*|'(?:''|[^'])*'", blank, text)


def mask(text):
    """The text with comments, strings and directives blanked, every character in its place."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", blank, text, flags=re.S)
    text = re.sub(r"(?m)^[ \t]*#(?:\\\n|[^\n])*", blank, text)
    return re.sub(r"\bD?CHECK\s*\([^;]*;", blank, text)


def close_of(masked, opening):
    """The index behind the bracket that closes the one at `opening`; None: not on this line."""
    depth = 0
    for index in range(opening, len(masked)):
        depth += (masked[index] in "([") - (masked[index] in ")]")
        if depth == 0:
            return index + 1
    return None


def arguments_of(masked, opening, behind):
    """The spans of the arguments between the brackets."""
    spans, depth, start = [], 0, opening + 1
    for index in range(opening + 1, behind - 1):
        depth += (masked[index] in "([{") - (masked[index] in ")]}")
        if masked[index] == "," and depth == 0:
            spans.append((start, index))
            start = index + 1
    spans.append((start, behind - 1))
    return [(a + len(masked[a:b]) - len(masked[a:b].lstrip()), b) for a, b in spans]


def term_end(masked, start):
    """Where the operand that begins at `start` ends: names, members, calls, indices."""
    match = re.compile(r"\s*(?:\([a-z_ ]+\**\))?[A-Za-z0-9_.]*").match(masked, start)
    index = match.end()
    while index < len(masked):
        if masked[index] in "([":
            index = close_of(masked, index)
            if index is None:
                return None
        elif re.match(r"->|[A-Za-z0-9_.]", masked[index:]):
            index += 2 if masked.startswith("->", index) else 1
        else:
            break
    return index


def replaced(line, start, end, new):
    return line[:start] + new + line[end:]


def operator_sites(line, masked):
    for match in re.finditer(r"->|\+\+|--|[-+*/|]=|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%<>]", masked):
        token, start, end = match.group(), match.start(), match.end()
        if token in RELATIONS:
            for new in RELATIONS[token]:
                yield "relation", replaced(line, start, end, new)
        elif token in LOGIC:
            yield "logic", replaced(line, start, end, LOGIC[token])
        elif token in ASSIGNMENT:
            yield "assignment", replaced(line, start, end, ASSIGNMENT[token])
        elif token in ("++", "--"):
            yield "step", replaced(line, start, end, "--" if token == "++" else "++")
        elif token in ("<<", ">>"):
            yield "shift", replaced(line, start, end, ">>" if token == "<<" else "<<")
        elif token in ARITHMETIC and re.search(OPERAND + r"\s+$", masked[:start]) and masked[end:end + 1] == " ":
            yield "arithmetic", replaced(line, start, end, ARITHMETIC[token])
            behind = term_end(masked, end)
            if behind is not None and masked[end:behind].strip():
                yield "dropped term", replaced(line, len(line[:start].rstrip()), behind, "")


def constant_sites(line, masked):
    for match in re.finditer(r"(?<![A-Za-z0-9_.])(\d+\.\d*(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+|\d+)(?![A-Za-z0-9_.])(?:[uU]?[lL]*)", masked):
        text = match.group(1)
        if masked[:match.start(1)].endswith("[") and DECLARED.match(masked.strip()):
            continue  # the size of an array
        if "." in text or "e" in text.lower():
            new = "1.0" if float(text) == 0 else "0.0" if float(text) == 1 else repr(float(text) * 1.5)
        else:
            new = str(int(text) + 1)
        yield "constant", replaced(line, match.start(1), match.end(1), new)


def word_sites(line, masked):
    for match in re.finditer(r"\b(" + "|".join(TWINS) + r")\b", masked):
        yield "twin", replaced(line, match.start(), match.end(), TWINS[match.group()])
    for match in re.finditer(r"\b(if|while)\s*\(", masked):
        behind = close_of(masked, match.end() - 1)
        if behind:
            inner = line[match.end():behind - 1]
            yield "condition", replaced(line, match.end(), behind - 1, "!(" + inner + ")")
            if match.group(1) == "if":
                yield "never", replaced(line, match.end(), behind - 1, "false && (" + inner + ")")
    for match in re.finditer(r"!(?=[A-Za-z_(])", masked):
        yield "negation", replaced(line, match.start(), match.end(), "")
    for match in re.finditer(r"\bcontinue;", masked):
        yield "continue", replaced(line, match.start(), match.end(), "break;")


# Their arguments may change places.
COMMUTATIVE = ("fmax(", "fmin(", "job_greater(", "worker_later(")


def call_sites(line, masked):
    for match in re.finditer(r"\b[a-z_][a-z0-9_]*\(", masked):
        if match.group() in ("if(", "while(", "for(", "switch(", "sizeof("):
            continue
        opening = match.end() - 1
        behind = close_of(masked, opening)
        if behind is None:
            continue
        if match.group() in COMMUTATIVE or match.group() == "strcmp(" and re.match(r" [=!]= 0", masked[behind:]):
            continue
        spans = arguments_of(masked, opening, behind)
        for (a, b), (c, d) in zip(spans, spans[1:]):
            if line[a:b] != line[c:d]:
                yield "swapped arguments", line[:a] + line[c:d] + line[b:c] + line[a:b] + line[d:]


def statement_sites(line, masked):
    stripped = masked.strip()
    whole_call = re.match(r"^(\(void\)\s*)?[a-z_][a-z0-9_]*\(.*\);$", stripped)
    store = re.match(r"^\*?[a-z_][A-Za-z0-9_.>\-\[\]\s+*]*\s([-+*/|&]?=)\s.*;$", stripped)
    if (whole_call or store) and not DECLARED.match(stripped):
        yield "dropped statement", line[:len(line) - len(line.lstrip())] + ";"
    if re.match(r"^[a-z_\->.\[\]]+(\+\+|--);$", stripped):
        yield "dropped statement", line[:len(line) - len(line.lstrip())] + ";"


def inside_braces(masked_lines):
    """For each line: does it begin or lie inside braces (a function or a table)?"""
    depth, inside = 0, []
    for masked in masked_lines:
        inside.append(depth > 0)
        depth += masked.count("{") - masked.count("}")
    return inside


def sql_sites(text):
    """Faults of the views of a schema; tables and their texts are left alone."""
    found, view = [], False
    for number, (line, masked) in enumerate(zip(text.split("\n"), mask_sql(text).split("\n")), 1):
        view = (view or "CREATE VIEW" in masked.upper()) and not masked.upper().startswith("CREATE TABLE")
        if view:
            found += [(number, name, mutated) for make in (operator_sites, constant_sites)
                      for name, mutated in make(line, masked) if mutated != line]
        view = view and ";" not in masked
    return found


def sites(text):
    """All faults of a C source, in order."""
    lines, masked_lines = text.split("\n"), mask(text).split("\n")
    inside, found = inside_braces(masked_lines), []
    for number, (line, masked) in enumerate(zip(lines, masked_lines), 1):
        at_file_scope = not inside[number - 1]
        if not masked.strip() or (at_file_scope and "{" not in masked and "=" not in masked):
            continue
        if at_file_scope and re.match(r"^(static|const|struct|enum|[a-z_]+ ).*\)\s*\{?$", masked):
            continue
        for make in (operator_sites, constant_sites, word_sites, call_sites, statement_sites):
            for name, mutated in make(line, masked):
                if mutated != line:
                    found.append((number, name, mutated))
    return found
