# The Debian package of this build: made by cpack, taken apart by dpkg-deb, used from where it was unpacked.
# tests/package installs it in a bare Debian.
load ../cli/helper

setup_file() {
    export FOLDER=$BATS_FILE_TMPDIR TREE=$BATS_FILE_TMPDIR/tree X=$BATS_FILE_TMPDIR/x
    export SOURCE_DATE_EPOCH=1700000000
    pack "$FOLDER/pack"
    export DEB=$(echo "$FOLDER"/pack/*.deb)
    dpkg-deb -R "$DEB" "$TREE"
    cmake --install "$BUILD" --prefix "$X" >"$FOLDER/log"
}
pack() { # FOLDER
    (cd "$BUILD" && cpack -B "$1" >"$FOLDER/log" 2>&1) || { cat "$FOLDER/log"; return 1; }
}
field() { dpkg-deb -f "$DEB" "$1"; }
below() { (cd "$1" && find . ! -type d | sed 's|^\./||' | sort); }

@test "its name and its fields" {
    version=$("$TREE/usr/bin/orrery" --version)
    [ "$(basename "$DEB")" = "orrery_${version#orrery }_$(dpkg --print-architecture).deb" ]
    [ "$(field Package)/$(field Version)" = "orrery/${version#orrery }" ]
    [ "$(field Architecture)" = "$(dpkg --print-architecture)" ]
    [ "$(field Section)/$(field Priority)/$(field Suggests)" = science/optional/sqlite3 ]
    [ "$(field Maintainer)" = "$(sed -n 's/^ORRERY_MAINTAINER:STRING=//p' "$BUILD/CMakeCache.txt")" ]
    grep -qE '^[^<>]+ <[^@ <>]+@[^@ <>]+\.[a-z]+>$' <<<"$(field Maintainer)"
    # KiB, each file rounded up to a block or not
    size=$(du -k --apparent-size -s "$TREE/usr" | cut -f1)
    [ "$(field Installed-Size)" -gt $((size * 9 / 10)) ]
    [ "$(field Installed-Size)" -lt $((size * 11 / 10)) ]
    field Description >words
    [ "$(head -1 words)" = "simulates GPU clusters that train large models" ]
    [ "$(wc -l <words)" -ge 4 ]
    lacks '.\{81\}' words
    [ "$(tail -n +2 words | grep -c '^[^ ]\|simulates GPU clusters that')" -eq 0 ]
}

@test "it depends on the packages of the libraries that the program loads, each at least in a version, and on no other" {
    field Depends | tr ',' '\n' | sed 's/^ *//' >depends
    lacks '|' depends
    LC_ALL=C readelf -d "$TREE/usr/bin/orrery" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' >libraries
    [ -s libraries ] || { [ ! -s depends ]; skip "the program has no shared library"; }
    ldd "$TREE/usr/bin/orrery" | awk '{print $1, $3}' >places
    while read -r library; do
        place=$(awk -v library="$library" '$1 == library {print $2}' places)
        for path in "$place" "$(realpath "$place")" "/usr$place" "${place#/usr}"; do
            dpkg -S "$path" 2>/dev/null | sed 's/:.*//'
        done | sort -u | head -1
    done <libraries | sort -u >wanted
    # libwebsockets takes its event loop by a name that no list of libraries has.
    if grep -q websockets libraries; then echo libwebsockets-evlib-uv >>wanted; fi
    sort wanted | diff - <(sed 's/ .*//' depends | sort)
    while read -r package relation version; do
        [ -n "$relation" ] || continue
        [ "$relation" = "(>=" ]
        dpkg --compare-versions "$(dpkg-query -W -f '${Version}\n' "$package" | head -1)" ge "${version%)}"
    done <depends
    grep -q 'libc6 (>= [0-9.]*)' depends
}

@test "what is in it: what is installed, at Debian's places, and the files that its policy wants" {
    {
        below "$X" | grep -v calibrate | sed -e 's|^|usr/|' -e 's|/zsh/site-functions/|/zsh/vendor-completions/|' \
            -e '/\/man1\//s/$/.gz/'
        printf 'usr/share/doc/orrery/%s\n' copyright changelog.gz orrery.spdx
    } | sort >wanted
    below "$TREE" | grep -v ^DEBIAN/ | diff wanted -
    below "$TREE/DEBIAN" | diff <(printf '%s\n' control md5sums) -
    (cd "$TREE" && md5sum --quiet -c DEBIAN/md5sums)
    [ "$(wc -l <"$TREE/DEBIAN/md5sums")" -eq "$(wc -l <wanted)" ]
    [ -z "$(find "$TREE/usr" -type d -empty)" ]
    [ -z "$(find "$TREE" -type l)" ]
}

@test "root owns it, everybody reads it, one file runs" {
    dpkg-deb -c "$DEB" | awk '{print $1, $2, $6}' >list
    while read -r mode owner path; do
        [ "$owner" = root/root ]
        case $path in
        */) want=drwxr-xr-x ;;
        ./usr/bin/orrery) want=-rwxr-xr-x ;;
        *) want=-rw-r--r-- ;;
        esac
        [ "$mode" = "$want" ] || { echo "$mode, not $want: $path"; return 1; }
    done <list
    [ "$(wc -l <list)" -gt 90 ]
}

@test "pages and changelog are packed as best, without name or time, and are those of the checkout" {
    gzip -dc "$TREE/usr/share/doc/orrery/changelog.gz" | cmp - "$SOURCES/CHANGELOG.md"
    for packed in "$TREE"/usr/share/man/man1/*.gz "$TREE/usr/share/doc/orrery/changelog.gz"; do
        # RFC 1952: no flags, no time, extra flags 2 (the best)
        [ "$(od -An -tx1 -j3 -N6 "$packed" | tr -d ' ')" = 000000000002 ]
    done
    for page in "$X"/share/man/man1/*.1; do
        case $page in *calibrate*) continue ;; esac
        gzip -dc "$TREE/usr/share/man/man1/$(basename "$page").gz" | cmp - "$page"
    done
}

# The program itself names its sources in messages: by their place in the checkout only with preset package.
@test "the program is stripped, and nothing beside it tells where it was built" {
    LC_ALL=C readelf -SW "$TREE/usr/bin/orrery" >sections
    grep -q '\.text' sections
    lacks '\.debug\|\.symtab' sections
    if grep -rlF --exclude-dir=bin -e "$SOURCES/" -e "$BUILD" "$TREE"; then return 1; fi
}

@test "its terms: those of the sources, of the program, and of what its page holds" {
    terms=$TREE/usr/share/doc/orrery/copyright
    [ "$(head -1 "$terms")" = "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/" ]
    # Each licence that a stanza names has a stanza of its own, and each line of a text is indented.
    sed -n '/^Files:/,/^$/s/^License: //p' "$terms" | sed 's/ and /\n/g' | sort -u >named
    awk 'BEGIN {RS = ""} /^License:/ {sub(/\n.*/, ""); sub("License: ", ""); print}' "$terms" | sort -u | diff named -
    grep -qx Apache-2.0 named
    grep -qx GPL-3+ named
    lacks '^[^ A-Z]' "$terms"
    [ "$(strings "$TREE/usr/bin/orrery" | grep -c uPlot)" -eq 0 ] || grep -q 'Leon Sorokin (uPlot)' "$terms"
    if grep -qx MIT named; then grep -q 'Permission is hereby granted' "$terms"; fi
    for licence in Apache-2.0 GPL-3; do grep -q "/usr/share/common-licenses/$licence\\b" "$terms"; done
}

@test "its bill of materials: the program, every package that it depends on with the version here, the page's part" {
    sbom=$TREE/usr/share/doc/orrery/orrery.spdx
    for tag in "SPDXVersion: SPDX-2.3" "DataLicense: CC0-1.0" "SPDXID: SPDXRef-DOCUMENT" "Created: 2023-11-14T22:13:20Z" \
        "PackageChecksum: SHA256: $(sha256sum "$TREE/usr/bin/orrery" | cut -d' ' -f1)" \
        "Relationship: SPDXRef-DOCUMENT DESCRIBES SPDXRef-orrery"; do
        [ "$(grep -cxF "$tag" "$sbom")" -eq 1 ] || { echo "not once: $tag"; return 1; }
    done
    if grep -vE '^([A-Z][A-Za-z]+: [^ ].*)?$' "$sbom"; then return 1; fi
    grep -qE '^DocumentNamespace: urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$' "$sbom"
    {
        echo "orrery $(field Version)"
        for package in $(field Depends | tr ',' '\n' | awk '{print $1}'); do
            dpkg-query -W -f '${Package} ${Version}\n' "$package" | head -1
        done
        if grep -qx 'License: MIT' "$TREE/usr/share/doc/orrery/copyright"; then
            echo "uplot $(jq -r .dependencies.uplot "$SOURCES/analysis/page/web/package.json")"
        fi
    } | sort >wanted
    awk '/^PackageName: /{name = $2} /^PackageVersion: /{print name, $2}' "$sbom" | sort | diff wanted -
    # Of each package every tag that the format demands; each is related to the program by its own name.
    for tag in PackageDownloadLocation FilesAnalyzed PackageLicenseConcluded PackageLicenseDeclared PackageCopyrightText; do
        [ "$(grep -c "^$tag: " "$sbom")" -eq "$(wc -l <wanted)" ]
    done
    sed -n 's/^SPDXID: //p' "$sbom" | sort >ids
    [ -z "$(uniq -d ids)" ]
    sed -n 's/^Relationship: [^ ]* [A-Z_]* //p' "$sbom" | sort | diff <(grep -vx SPDXRef-DOCUMENT ids) -
}

@test "the program runs from where it was unpacked: a scenario, a plan" {
    expect 0 "$TREE/usr/bin/orrery" run "$TREE/usr/share/orrery/scenarios/hello-8-gpus.yaml"
    cp out run
    expect 0 "$X/bin/orrery" run "$TREE/usr/share/orrery/scenarios/hello-8-gpus.yaml" --db hello-8-gpus.db
    diff run out
    expect 0 "$TREE/usr/bin/orrery" plan --model gpt2-124m --gpu a100-80gb-sxm --gpus 2 --global-batch 8
    shows "P(1)"
}

@test "the same build packed twice gives the same bytes" {
    pack "$BATS_TEST_TMPDIR/again"
    cmp "$DEB" "$BATS_TEST_TMPDIR"/again/*.deb
}
