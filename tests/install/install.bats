# What `cmake --install BUILD --prefix X` lays down, used from X alone. The lists are counted here from the
# checkout and from `schema --commands`, which docs/man does not read.
load ../cli/helper

setup_file() {
    export X=$BATS_FILE_TMPDIR/x ORRERY=$BATS_FILE_TMPDIR/x/bin/orrery
    umask 022
    cmake --install "$BUILD" --prefix "$X" >"$BATS_FILE_TMPDIR/log" || { cat "$BATS_FILE_TMPDIR/log"; return 1; }
    "$ORRERY" schema --commands >"$BATS_FILE_TMPDIR/commands.json"
}
commands() { command jq -r '.commands[].name' "$BATS_FILE_TMPDIR/commands.json"; }
below() { (cd "$1" && find . ! -type d | sed 's|^\./||' | sort); }
documents() { # those that have a schema
    jq -r '.commands[] | select(.name == "schema") | .options[] | select(.name == "--of") | .choices[]' \
        "$BATS_FILE_TMPDIR/commands.json"
}
pages() { [ "$SCDOC" != SCDOC-NOTFOUND ] && command -v groff >/dev/null || skip "groff or scdoc is not installed"; }
# rendered FILE: the page in one line, words apart by one blank; no word is cut.
rendered() { groff -man -Tascii -P-c -P-b -P-u -rLL=2000n -rHY=0 "$1" | tr -s ' \n\t' ' '; }

@test "every file that belongs there, and no other" {
    {
        printf 'bin/%s\n' orrery orrery-calibrate
        printf 'share/%s\n' bash-completion/completions/orrery zsh/site-functions/_orrery \
            fish/vendor_completions.d/orrery.fish doc/orrery/LICENSE doc/orrery/README.md \
            orrery/schema/orrery.schema.json
        documents | sed 's|.*|share/orrery/schema/&.schema.json|'
        if [ "$SCDOC" != SCDOC-NOTFOUND ]; then
            printf 'share/man/man1/%s.1\n' orrery orrery-calibrate
            commands | sed 's|.*|share/man/man1/orrery-&.1|'
        fi
        { shipped; ls "$SCENARIOS"/lessons/*.yaml; } | sed "s|^$SCENARIOS/|share/orrery/scenarios/|"
    } | sort >wanted
    [ "$(commands | wc -l)" -ge 21 ]
    [ "$(documents | wc -l)" -ge 20 ]
    [ "$(wc -l <wanted)" -ge 70 ]
    below "$X" | diff wanted -
}

@test "everybody may read all of it, and run the programs alone" {
    [ -z "$(find "$X"/bin "$X"/share -type d ! -perm 755)" ]
    [ -z "$(find "$X"/share -type f ! -perm 644)" ]
    [ -z "$(find "$X"/bin -type f ! -perm 755)" ]
}

@test "the program takes no library from where it was built" {
    LC_ALL=C readelf -d "$ORRERY" >tags
    grep -q NEEDED tags || grep -q 'no dynamic section' tags
    lacks 'RPATH\|RUNPATH' tags
}

@test "the page of a command: what it is, how it is called, every option with its words, the rest of its help" {
    pages
    count=0
    for command in $(commands); do
        rendered "$X/share/man/man1/orrery-$command.1" >words
        command jq --arg name "$command" '.commands[] | select(.name == $name)' "$BATS_FILE_TMPDIR/commands.json" >row
        # What stands on the page, in this order.
        command jq -r --arg help "--help show this help (or -h)" '
            "NAME orrery-\(.name) - \(.doc) SYNOPSIS orrery \(.name) \(if .positional then .positional + " " else "" end)[OPTION]... OPTIONS",
            (.options[] | [.name, .value // empty, .doc + if .choices then ": " + (.choices | join(", ")) else "" end] | join(" ")),
            $help, (.details // "" | split("\n")[] | select(. != "") | sub("^exit code: "; "EXIT STATUS exit code: ")),
            "EXAMPLE \(.example) SEE ALSO orrery(1)"' row >stands
        # An option in the middle of a block, a line on the kinds of a file: the rest of --help.
        "$ORRERY" "$command" --help | sed -n '/^$/,/^example:/p' | grep '^[a-z]' | grep -vE '^(usage|example|exit code):' >>stands || true
        awk -v name="$command" 'NR == FNR {page = $0; next}
            {gsub(/ +/, " ")} !index(page, $0) {print "orrery-" name ".1 lacks: " $0; lacks = 1} END {exit lacks}' words stands
        count=$((count + $(wc -l <stands)))
        [ "$(grep -o ' SYNOPSIS \| OPTIONS \| NOTES \| EXIT STATUS \| EXAMPLE \| SEE ALSO ' words | uniq -d)" = "" ]
    done
    [ "$count" -ge 300 ]
}

@test "the page of the program names every command with its words, and both pages have their names" {
    pages
    rendered "$X/share/man/man1/orrery.1" >words
    command jq -r '.commands[] | "orrery-\(.name)(1) \(.doc)"' "$BATS_FILE_TMPDIR/commands.json" >stands
    while IFS= read -r line; do
        grep -qF -e "$line" words || { echo "orrery.1 lacks: $line"; return 1; }
    done <stands
    grep -qF "NAME orrery - simulates GPU clusters" words
    grep -qF "OPTIONS --version the version --help show this help" words
    grep -qF "EXIT STATUS exit code: 0 ok, 1 " words
    rendered "$X/share/man/man1/orrery-calibrate.1" >words
    "$X/bin/orrery-calibrate" --help | tr -s ' \n' ' ' | sed 's/ $//' >help
    grep -qF -e "$(cat help)" words
}

@test "the page is the same by gawk and by mawk, which Debian has" {
    command -v gawk && command -v mawk || skip "one of them is not installed"
    for awk in gawk mawk; do
        mkdir $awk
        ln -s "$(command -v $awk)" $awk/awk
        for command in '' list study; do PATH=$PWD/$awk:$PATH "$SOURCES/docs/man" "$ORRERY" $command >>$awk/pages; done
    done
    [ "$(grep -c . gawk/pages)" -gt 100 ]
    diff gawk/pages mawk/pages
}

@test "groff warns of nothing in a page" {
    pages
    for page in "$X"/share/man/man1/*; do
        grep -q "^\.TH \"$(basename "$page" .1)\" \"1\"" "$page"
        groff -man -ww -b -Tutf8 -z "$page" 2>warned
        [ ! -s warned ] || { echo "$page"; head -3 warned; return 1; }
    done
}

@test "completion lies where each shell looks by name, whole, and bash takes it" {
    bash=$X/share/bash-completion/completions/orrery zsh=$X/share/zsh/site-functions/_orrery
    fish=$X/share/fish/vendor_completions.d/orrery.fish
    for shell in bash zsh fish; do
        "$ORRERY" completion $shell | cmp - "${!shell}"
        if command -v $shell >/dev/null; then $shell -n "${!shell}"; fi
    done
    [ "$(head -1 "$zsh")" = "#compdef orrery" ]
    bash --norc -c '. "$1" && complete -p orrery && COMP_WORDS=(orrery memo) COMP_CWORD=1 && _orrery && echo "${COMPREPLY[@]}"' bash "$bash" >out
    shows "complete -F _orrery orrery"
    [ "$(tail -1 out)" = memory ]
}

@test "the schemas are what the program prints, and schemas" {
    "$ORRERY" schema | cmp - "$X/share/orrery/schema/orrery.schema.json"
    for name in $(documents); do
        "$ORRERY" schema --of "$name" | cmp - "$X/share/orrery/schema/$name.schema.json"
    done
    for schema in "$X"/share/orrery/schema/*.json; do
        jq -e '."$schema" | startswith("https://json-schema.org/")' "$schema"
    done
}

@test "the installed program takes every installed scenario, in a folder far from the checkout" {
    count=0
    for scenario in "$X"/share/orrery/scenarios/*.yaml "$X"/share/orrery/scenarios/*/*.yaml; do
        code=0
        "$ORRERY" check "$scenario" >out 2>err || code=$?
        case $code in
        0) ;;
        4) shows "but it does not fit in memory" ;;
        *) echo "exit code $code: $scenario"; cat err; return 1 ;;
        esac
        shows "no errors"
        cmp "$scenario" "$SCENARIOS/${scenario#"$X"/share/orrery/scenarios/}"
        count=$((count + 1))
    done
    [ "$count" -ge 45 ]
    expect 0 "$ORRERY" run "$X/share/orrery/scenarios/hello-8-gpus.yaml"
    [ -f hello-8-gpus.db ]
    expect 0 "$ORRERY" lesson "$X/share/orrery/scenarios/lessons/bubble.yaml"
}

@test "the terms and the first page are those of the checkout" {
    for file in LICENSE README.md; do cmp "$SOURCES/$file" "$X/share/doc/orrery/$file"; done
}
