# The card that a file of another program names, at every door: it counts for no other card of the
# catalogue unless --other-card insists, and then it is said and stays known.
load helper

# An output of nccl-tests among 2 GPUs, whose busbw is algbw.
nccl_tests() { # CARD
    echo "#  Rank  0 Group  0 Pid  7 on node-a device  0 [0x1b] $1"
    echo "#  Rank  1 Group  0 Pid  8 on node-a device  1 [0x43] $1"
    echo "#  size count type redop root time algbw busbw #wrong"
    echo "#   (B) (elements)            (us) (GB/s) (GB/s)"
    echo "1048576 262144 float sum -1 104.8576 10 10 0"
}
# A trace of one product of 1 ms, of 41.2 MFLOP.
trace() { # CARD [MORE]
    cat <<END
{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "$1"$2}], "traceEvents": [
 {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "args": {"External id": 7, "Input Dims": [[1024, 768], [768, 2304]],
  "Input type": ["c10::BFloat16", "c10::BFloat16"]}},
 {"ph": "X", "cat": "kernel", "name": "gemm", "ts": 21.5, "dur": 1000, "args": {"External id": 7}}]}
END
}
mi300() { trace "AMD Instinct MI300X VF" ', "totalGlobalMem": 205571227648, "numSms": 304'; }
differ="'AMD Instinct MI300X VF' (mi300x-192gb in the catalogue) is not h100-80gb-sxm"

@test "a trace of another card makes no profile, unless --other-card insists" {
    mi300 >trace.json
    expect 0 "$ORRERY" import pytorch trace.json --gpu mi300x-192gb --output amd.db
    lacks warning err
    expect 3 "$ORRERY" import pytorch trace.json --gpu h100-80gb-sxm --output own.db
    said "orrery import: trace.json: $differ; --other-card takes it for that card nevertheless"
    [ ! -e own.db ]
    expect 0 "$ORRERY" import pytorch trace.json --gpu h100-80gb-sxm --output own.db --other-card
    said "warning: trace.json: $differ; it is taken for that card (--other-card)"
    shows "1 point of 1 operator"
    # Who meets the profile later is told, too.
    expect 3 "$ORRERY" profile check own.db
    said "$differ"
    lacks "--other-card" err
    expect 0 "$ORRERY" run "$hello" --set cluster.profile="$PWD/own.db" --no-db
    said "warning: cluster.profile: $differ"
    expect 0 "$ORRERY" check "$hello" --set cluster.profile="$PWD/own.db"
    said "$differ"
    expect 3 "$ORRERY" validate "$SCENARIOS/../tests/validation/kernels.csv" --where gpu=h100-80gb-sxm --profile own.db
    said "own.db: $differ"
    expect 0 "$ORRERY" run "$hello" --set cluster.profile="$PWD/amd.db" --no-db
    said "it was measured on mi300x-192gb, not on h100-80gb-sxm"
}

@test "a profile without a catalogue's name is compared by its card" {
    mi300 >trace.json
    expect 0 "$ORRERY" import pytorch trace.json --output own.db
    expect 0 "$ORRERY" check "$hello" --set cluster.profile="$PWD/own.db"
    said "cluster.profile: $differ"
    trace "NVIDIA H100 80GB HBM3" >trace.json
    expect 0 "$ORRERY" import pytorch trace.json --output h100.db
    expect 0 "$ORRERY" check "$hello" --set cluster.profile="$PWD/h100.db"
    lacks "cluster.profile" err
    trace "NVIDIA A800-SXM4-80GB" >trace.json
    expect 0 "$ORRERY" import pytorch trace.json --output a800.db
    expect 0 "$ORRERY" check "$hello" --set cluster.profile="$PWD/a800.db"
    said "'NVIDIA A800-SXM4-80GB' is the name of no card of the catalogue"
}

@test "a profile keeps to one card: another's points do not join it" {
    mi300 >trace.json
    expect 0 "$ORRERY" import pytorch trace.json --gpu h100-80gb-sxm --output own.db --other-card
    nccl_tests "NVIDIA H100 80GB HBM3" >nccl.txt
    expect 3 "$ORRERY" import nccl-tests nccl.txt --op all_reduce --gpu h100-80gb-sxm --output own.db
    said "own.db was measured on AMD Instinct MI300X VF, and these points on NVIDIA H100 80GB HBM3"
    expect 0 "$ORRERY" import pytorch trace.json --gpu h100-80gb-sxm --output own.db --other-card
    expect 0 "$ORRERY" import nccl-tests nccl.txt --op all_reduce --gpu h100-80gb-sxm --output h100.db
    expect 3 "$ORRERY" import pytorch trace.json --gpu h100-80gb-sxm --output h100.db --other-card
    said "h100.db was measured on NVIDIA H100 80GB HBM3"
    # Nor do those of a card that the catalogue does not have.
    trace "NVIDIA A800-SXM4-80GB" >trace.json
    expect 3 "$ORRERY" import pytorch trace.json --gpu h100-80gb-sxm --output h100.db --other-card
    said "these points on NVIDIA A800-SXM4-80GB"
    # Two spellings of one card are one card.
    trace "NVIDIA-H100-80GB-HBM3" >trace.json
    expect 0 "$ORRERY" import pytorch trace.json --gpu h100-80gb-sxm --output h100.db
    shows "added"
}

@test "an output of nccl-tests of another card is refused" {
    nccl_tests "NVIDIA H100 80GB HBM3" >nccl.txt
    expect 3 "$ORRERY" import nccl-tests nccl.txt --op all_reduce --gpu a100-80gb-sxm --output own.db
    said "'NVIDIA H100 80GB HBM3' (h100-80gb-sxm in the catalogue) is not a100-80gb-sxm"
    [ ! -e own.db ]
    expect 0 "$ORRERY" import nccl-tests nccl.txt --op all_reduce --gpu a100-80gb-sxm --output own.db --other-card
    expect 3 "$ORRERY" profile check own.db
    said "is not a100-80gb-sxm"
    # Nor does one that the catalogue does not have count for another; a name that tells none does.
    nccl_tests "NVIDIA L4" >nccl.txt
    expect 3 "$ORRERY" import nccl-tests nccl.txt --op all_reduce --gpu a100-80gb-sxm --output l4.db
    said "nccl.txt: 'NVIDIA L4' is the name of no card of the catalogue, and not of a100-80gb-sxm; --other-card takes it"
    [ ! -e l4.db ]
    nccl_tests "NVIDIA Graphics Device" >nccl.txt
    expect 0 "$ORRERY" import nccl-tests nccl.txt --op all_reduce --gpu a100-80gb-sxm --output any.db
    said "warning: nccl.txt: 'NVIDIA Graphics Device' is the name of no card of the catalogue; it is taken for a100-80gb-sxm"
}

@test "a step of another card is not compared with a scenario" {
    trace "NVIDIA A100-PG509-200" ', "totalGlobalMem": 42505273344, "numSms": 108' >trace.json
    expect 3 "$ORRERY" compare "$hello" --trace trace.json
    said "orrery compare: trace.json: 'NVIDIA A100-PG509-200' (a100-40gb-sxm in the catalogue) is not h100-80gb-sxm"
    [ ! -s out ]
    expect 0 "$ORRERY" compare "$hello" --trace trace.json --other-card
    said "it is taken for that card (--other-card)"
    expect 0 "$ORRERY" compare "$hello" --trace trace.json --set cluster.gpu=a100-40gb-sxm --set cluster.node=dgx-a100
    lacks warning err
    # The size tells the two A100.
    expect 3 "$ORRERY" compare "$hello" --trace trace.json --set cluster.gpu=a100-80gb-sxm --set cluster.node=dgx-a100
    expect 2 "$ORRERY" compare "$hello" "$hello" --other-card
    said "go with --trace"
}

@test "a matrix with other NVLinks than the card's, and NCCL's file of another generation" {
    for links in 18 12 6; do
        {
            echo "     GPU0 GPU1 GPU2 GPU3 GPU4 GPU5 GPU6 GPU7"
            for row in 0 1 2 3 4 5 6 7; do
                printf 'GPU%d' $row
                for column in 0 1 2 3 4 5 6 7; do
                    if [ $row = $column ]; then printf ' X'; else printf ' NV%d' $links; fi
                done
                echo
            done
        } >"nv$links.txt"
    done
    expect 3 "$ORRERY" import topo nv18.txt --gpu v100-32gb-sxm
    said "nv18.txt: a card with 18 NVLinks is not v100-32gb-sxm, which has 6"
    [ ! -s out ]
    expect 0 "$ORRERY" import topo nv18.txt --gpu v100-32gb-sxm --other-card
    shows "gpu: v100-32gb-sxm"
    expect 0 "$ORRERY" import topo nv18.txt --gpu h200-141gb-sxm
    expect 0 "$ORRERY" import topo nv6.txt --gpu v100-32gb-sxm
    # Eight cards that reach each other by 12 links do so through a switch: these are all.
    expect 3 "$ORRERY" import topo nv12.txt --gpu h100-80gb-sxm
    said "a card with 12 NVLinks is not h100-80gb-sxm, which has 18"
    expect 0 "$ORRERY" import topo nv12.txt --gpu a100-80gb-sxm
    # Cards with links that are down (two islands of four) do not tell how many a card has.
    awk 'NR > 1 {for (i = 2; i <= NF; i++) if ((NR > 5) != (i > 5)) $i = $i == "X" ? "X" : "SYS"
                 else if (NR > 5 && $i != "X") $i = "NV12"} 1' nv18.txt >down.txt
    expect 0 "$ORRERY" import topo down.txt --gpu h100-80gb-sxm
    shows "12 links"
    # Two cards may be bridged by some of theirs.
    printf ' GPU0 GPU1\nGPU0 X NV12\nGPU1 NV12 X\n' >two.txt
    expect 0 "$ORRERY" import topo two.txt --gpu h100-80gb-sxm
    for gpu in 0 1; do
        echo "<gpu dev=\"$gpu\" sm=\"80\" rank=\"$gpu\"><nvlink target=\"5\" count=\"12\" tclass=\"0x068000\"/></gpu>"
    done | sed '1i <system version="1"><cpu numaid="0">
$a </cpu></system>' >topo.xml
    expect 3 "$ORRERY" import nccl-topo topo.xml --gpu h100-80gb-sxm
    said "a card of compute capability 8.0 is not h100-80gb-sxm, which has 9.0"
    expect 0 "$ORRERY" import nccl-topo topo.xml --gpu a100-80gb-sxm
    lacks "names no card" err
    sed -i 's/sm="80"/sm="90"/' topo.xml
    expect 3 "$ORRERY" import nccl-topo topo.xml --gpu h100-80gb-sxm
    said "a card with 12 NVLinks"
    # What a cloud gives as NCCL_TOPO_FILE knows its cards by their PCI class alone: --gpu is believed.
    lacks "names no card" err
    cat >cloud.xml <<'END'
<system version="1"><cpu numaid="0" affinity="ffffffff" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="85">
<pci busid="0001:00:00.0" class="0x030200" link_speed="16 GT/s" link_width="16"/>
<pci busid="0002:00:00.0" class="0x030200" link_speed="16 GT/s" link_width="16"/>
</cpu></system>
END
    expect 0 "$ORRERY" import nccl-topo cloud.xml --gpu v100-32gb-sxm
    [ "$(cat err)" = "orrery import: cloud.xml names no card: --gpu v100-32gb-sxm is believed" ]
    expect 0 "$ORRERY" import nccl-topo cloud.xml
    [ ! -s err ]
    expect 0 "$ORRERY" import topo nv6.txt --gpu v100-32gb-sxm
    said "nv6.txt names no card: --gpu v100-32gb-sxm is believed"
    expect 2 "$ORRERY" import xid topo.xml --gpus 8 --other-card
    said "takes no --other-card"
}
