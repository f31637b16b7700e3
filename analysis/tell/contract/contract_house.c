/* `list`, `lesson`, `collective`, `profile`, `doctor`, `schema --commands`. */
#include "analysis/tell/contract/contract_row.h"
#include "models/collective/comm_op.h"

CONTRACT(stated, ROW("name", WORD, "of the figure"), ROW("text", WORD, "as the catalogue says it"),
         IN_NULL_ROW("value", REAL, "as unit", "in SI units; null: it is no number"),
         ROW("unit", WORD, "its SI unit; empty: none"),
         IN_NULL_ROW("error_ratio", REAL, "1", "its standard error; null: exact"),
         ROW("origin", WORD, "measured, published, ..."), ROW("source", WORD, "where it stands"));
CONTRACT(words, ROW("*", WORD, "a key of a scenario and its value"));
CONTRACT(release, ROW("since", WORD, "release or date"), ROW("what", WORD, "what changed"),
         OF_ROW("when", words, "for which scenarios"), OF_ROW("sets", words, "what it sets"),
         NULL_ROW("untaken", WORD, "why it is not taken; null: it is"),
         NULL_ROW("size", WORD, "how much it is worth"), ROW("source", WORD, "where it stands"));
CONTRACT(entry, ROW("family", WORD, "gpus, models, schedules, ..."), ROW("name", WORD, "of it"),
         ROW("doc", WORD, "a sentence"),
         {.name = "figures",
          .type = CONTRACT_OBJECT | CONTRACT_LIST | CONTRACT_SOMETIMES,
          .doc = "of the one entry that was asked for",
          .of = &stated},
         {.name = "history",
          .type = CONTRACT_OBJECT | CONTRACT_LIST | CONTRACT_SOMETIMES,
          .doc = "of a software profile: what its releases changed",
          .of = &release});
CONTRACT(list, OF_LIST_ROW("rows", entry, "the entries"));
const struct contract_document contract_list = {
    "orrery.list/1", "what `orrery list` and `orrery lesson` without a name print", false, &list};

CONTRACT(caption, IN_ROW("at_s", REAL, "s", "when it is shown"), ROW("say", WORD, "the caption"));
#define LESSON_COLUMNS                                                                             \
    "step_time_s=step_s tokens_per_s_per_gpu mfu=mfu_ratio bubble_ratio peak_reserved_bytes "      \
    "goodput=goodput_ratio"
CONTRACT(lesson_run, COLUMNS_ROW(lesson_run, "name set shows"),
         ROW("fits", FLAG, "Does it fit the memory of its cards?"),
         COLUMNS_ROW(lesson_run, LESSON_COLUMNS));
CONTRACT(question, COLUMNS_ROW(question, "ask answer value unit text why"));
CONTRACT(lesson, COLUMNS_ROW(lesson, "order=place shows look_for next"),
         OF_LIST_ROW("captions", caption, "for the replay"),
         OF_LIST_ROW("runs", lesson_run, "the runs that it compares"),
         OF_LIST_ROW("questions", question, "with their answers"));
const struct contract_document contract_lesson = {
    "orrery.lesson/1", "what `orrery lesson NAME` prints", true, &lesson};

CONTRACT(timing, WORDS_ROW("op", comm_op_names, "the collective"), ROW("ranks", COUNT, "GPUs"),
         IN_ROW("bytes", REAL, "B", "as nccl-tests counts them"),
         ROW("algorithm", WORD, "the fastest"), ROW("protocol", WORD, "of NCCL"),
         IN_ROW("time_s", REAL, "s", "of one"),
         IN_ROW("algbw_bytes_per_s", REAL, "B/s", "bytes over time"),
         IN_ROW("busbw_bytes_per_s", REAL, "B/s", "as nccl-tests defines it"));
CONTRACT(collective, ANNOUNCED_ROWS, OF_LIST_ROW("rows", timing, "by size"));
const struct contract_document contract_collective = {
    "orrery.collective/1", "what `orrery collective` prints", false, &collective};

CONTRACT(measured_shape, ROW("shape", WORD, "of the kernel or collective"),
         IN_ROW("median_s", REAL, "s", "of the samples"),
         IN_NULL_ROW("spread_ratio", REAL, "1", "their spread over the median"),
         ROW("samples", COUNT, "so many"), ROW("outliers", COUNT, "left out"),
         ROW("settled", FLAG, "Had the time settled?"),
         IN_NULL_ROW("clock_hz", REAL, "Hz", "of the card; null: not measured"),
         IN_NULL_ROW("power_w", REAL, "W", "of the card; null: not measured"),
         ROW("power_cap", FLAG, "Was it slowed by its power cap?"),
         ROW("too_hot", FLAG, "by heat?"), ROW("hardware_slow", FLAG, "by its hardware?"));
CONTRACT(remark, ROW("shape", WORD, "of the kernel"), ROW("text", WORD, "what is wrong"));
CONTRACT(profile, NULL_ROW("device", WORD, "as it names itself"),
         NULL_ROW("gpu", WORD, "its name in the catalogue; null: unknown"),
         NULL_ROW("driver", WORD, "its version"), NULL_ROW("runtime", WORD, "its version"),
         NULL_ROW("libraries", WORD, "their versions"),
         NULL_ROW("date", WORD, "of the measurement"), NULL_ROW("method", WORD, "how it was made"),
         ROW("complete", FLAG, "Was it finished?"),
         OF_LIST_ROW("points", measured_shape, "what was measured"),
         {.name = "remarks",
          .type = CONTRACT_OBJECT | CONTRACT_LIST | CONTRACT_SOMETIMES,
          .doc = "of `profile check`",
          .of = &remark});
const struct contract_document contract_profile = {
    "orrery.profile/1", "what `orrery profile show` and `check` print", false, &profile};

CONTRACT(capability, ROW("what", WORD, "what was looked at"), ROW("good", FLAG, "Is it well?"),
         ROW("text", WORD, "what was found"));
CONTRACT(doctor, OF_LIST_ROW("rows", capability, "in their order"));
const struct contract_document contract_doctor = {"orrery.doctor/1", "what `orrery doctor` prints",
                                                  false, &doctor};

CONTRACT(line_option, ROW("name", WORD, "with its dashes"), ROW("type", WORD, "of its value"),
         NULL_ROW("value", WORD, "what stands for it in --help; null: it takes none"),
         NULL_ROW("usual", WORD, "what it is unless it is given"), ROW("doc", WORD, "a sentence"),
         ROW("repeats", FLAG, "May it be given more than once?"),
         {.name = "choices",
          .type = CONTRACT_WORD | CONTRACT_LIST | CONTRACT_OR_NULL,
          .doc = "the words that it takes; null: any"});
CONTRACT(conflict, ROW("one", WORD, "an option"), ROW("other", WORD, "that does not go with it"),
         ROW("why", WORD, "the reason"));
CONTRACT(command, ROW("name", WORD, "of it"), ROW("doc", WORD, "a sentence"),
         NULL_ROW("positional", WORD, "the words behind it"),
         NULL_ROW("details", WORD, "the rest of --help"), ROW("example", WORD, "a line"),
         OF_LIST_ROW("options", line_option, "in the order of --help"),
         OF_LIST_ROW("conflicts", conflict, "options that do not go together"));
CONTRACT(commands, OF_LIST_ROW("commands", command, "in the order of --help"));
const struct contract_document contract_commands = {
    "orrery.commands/1", "what `orrery schema --commands` prints", false, &commands};
