#include "analysis/command/shared/emit.h"

#include <ctype.h>
#include <string.h>

#include "analysis/output/terminal/shard.h"
#include "analysis/output/text/shell.h"
#include "analysis/output/text/version.h"

enum {
    NAME_MAX_BYTES = 52 /* of a Job, so that its pods' names fit into 63 bytes */
};
const char *const emit_engine_names[] = {"slurm", "k8s", NULL};

struct job_file {
    const struct arguments *a;
    struct arena *arena;
    unsigned shards, threads;
    const char *name;   /* of letters, digits and '-' */
    const char *prefix; /* of the shards' files, a word of the shell */
    const char *target;
    const char *line; /* the words behind the command, without what a shard adds */
};

/* What a shard says for itself, or leaves to who merges. */
static const char *const told_last[] = {"--csv",    "--json",   "--svg", "--why",
                                        "--launch", "--pareto", NULL};
static const char *const left_out[] = {"--csv",    "--json",   "--svg",     "--why",    "--launch",
                                       "--pareto", "--db",     "--no-db",   "--resume", "--shard",
                                       "--emit",   "--shards", "--threads", NULL};

/* The options of the line, of those that are listed alone or of all others. */
static const char *options_of(const struct job_file *job, const char *const *listed, bool alone)
{
    const char *const *words;
    const char *line = "";
    const unsigned count = arguments_words(job->a, listed, alone, job->arena, &words);
    const unsigned files = job->a->positional_count > 0 && !alone ? 1 + job->a->positional_count
                                                                  : 0; /* "--" and they */
    for (unsigned i = 0; i < count - files; i++)
        line = arena_format(job->arena, "%s %s", line, shell_word(job->arena, words[i]));
    return line;
}

/* "my weeks.study.db" -> "my-weeks-study": as names of Kubernetes are (RFC 1123). */
static const char *name_of(struct arena *arena, const char *stem)
{
    const char *slash = strrchr(stem, '/');
    char *name = arena_text(arena, slash != NULL ? slash + 1 : stem);
    size_t used = 0;
    for (const char *c = name; *c != '\0' && used < NAME_MAX_BYTES; c++)
        if (isalnum((unsigned char)*c) && (unsigned char)*c < 0x80)
            name[used++] = (char)tolower((unsigned char)*c);
        else if (used > 0 && name[used - 1] != '-')
            name[used++] = '-';
    while (used > 0 && name[used - 1] == '-')
        used--;
    name[used] = '\0';
    return arena_format(arena, "orrery%s%s", used > 0 ? "-" : "", name);
}

static const char *script_of(const struct job_file *job)
{
    const struct arguments *a = job->a;
    const char *scenario =
        a->positional_count > 0
            ? arena_format(job->arena, " -- %s", shell_word(job->arena, a->positional[0]))
            : "";
    return arena_format(
        job->arena,
        "set -eu\n"
        "orrery=${ORRERY:-orrery}\n"
        "\"$orrery\" %s%s --shard \"$shard/%u\" --db %s.\"$shard\"of%u.db --threads %u "
        "--resume%s\n"
        "# Whoever finds every shard complete merges them; a file has this name when it is.\n"
        "set --\n"
        "i=1\n"
        "while [ \"$i\" -le %u ]; do\n"
        "    if [ ! -e %s.\"$i\"of%u.db ]; then\n"
        "        echo \"shard $i of %u is not complete yet\"\n"
        "        exit 0\n"
        "    fi\n"
        "    set -- \"$@\" %s.\"$i\"of%u.db\n"
        "    i=`expr \"$i\" + 1`\n"
        "done\n"
        "# 4: all is done, and nothing fits in memory\n"
        "flock %s.merging \"$orrery\" merge --db %s%s -- \"$@\" || [ $? -eq 4 ]\n",
        a->rules.command, job->line, job->shards, job->prefix, job->shards, job->threads, scenario,
        job->shards, job->prefix, job->shards, job->shards, job->prefix, job->shards, job->prefix,
        job->target, options_of(job, told_last, true));
}

static void print_slurm(const struct job_file *job, FILE *out)
{
    fprintf(out,
            "#!/bin/sh\n"
            "#SBATCH --job-name=%s\n"
            "#SBATCH --array=1-%u\n"
            "#SBATCH --ntasks=1\n"
            "#SBATCH --cpus-per-task=%u\n"
            "#SBATCH --requeue\n"
            "#SBATCH --open-mode=append\n"
            "#SBATCH --output=%s.%%a.log\n"
            "# A %s in %u shards, by orrery %s: sbatch FILE, in the folder of the scenario, which "
            "all\n"
            "# nodes must see. Add --partition, --time and --account as your cluster wants them. "
            "Tasks that\n"
            "# failed: sbatch --array=3,7 FILE; each goes on where it was.\n"
            "shard=$SLURM_ARRAY_TASK_ID\n"
            "%s",
            job->name, job->shards, job->threads, job->name, job->a->rules.command, job->shards,
            ORRERY_VERSION, script_of(job));
}

/* The script in a block of YAML. Kubernetes takes $(NAME) for its own; $$( is what it leaves. */
static void print_block(const char *script, FILE *out)
{
    for (bool begins = true; *script != '\0'; script++) {
        if (begins)
            fputs("              ", out);
        if (script[0] == '$' && script[1] == '(')
            fputc('$', out);
        fputc(*script, out);
        begins = *script == '\n';
    }
}

static void print_k8s(const struct job_file *job, FILE *out)
{
    fprintf(out,
            "# A %s in %u shards, by orrery %s: kubectl apply -f FILE. Yours to set: the image, "
            "which holds\n"
            "# orrery and util-linux, and the claim of a volume that all pods write "
            "(ReadWriteMany), with the\n"
            "# scenario in it. Pods that are evicted or fail go on where they were.\n"
            "apiVersion: batch/v1\n"
            "kind: Job\n"
            "metadata:\n"
            "  name: %s\n"
            "spec:\n"
            "  completionMode: Indexed\n"
            "  completions: %u\n"
            "  parallelism: %u\n"
            "  backoffLimitPerIndex: 6\n"
            "  podFailurePolicy:\n"
            "    rules:\n"
            "      - action: Ignore\n"
            "        onPodConditions:\n"
            "          - type: DisruptionTarget\n"
            "      - action: FailIndex # a wrong line or scenario: no use to try again\n"
            "        onExitCodes:\n"
            "          operator: In\n"
            "          values: [2, 3]\n"
            "  template:\n"
            "    spec:\n"
            "      restartPolicy: Never\n"
            "      containers:\n"
            "        - name: orrery\n"
            "          image: orrery:%s\n"
            "          workingDir: /work\n"
            "          resources:\n"
            "            requests:\n"
            "              cpu: %u\n"
            "          volumeMounts:\n"
            "            - name: work\n"
            "              mountPath: /work\n"
            "          command: [\"/bin/sh\", \"-c\"]\n"
            "          args:\n"
            "            - |\n"
            "              shard=`expr \"$JOB_COMPLETION_INDEX\" + 1`\n",
            job->a->rules.command, job->shards, ORRERY_VERSION, job->name, job->shards, job->shards,
            ORRERY_VERSION, job->threads);
    print_block(script_of(job), out);
    fputs("      volumes:\n"
          "        - name: work\n"
          "          persistentVolumeClaim:\n"
          "            claimName: orrery\n",
          out);
}

/* Lines of a job file end where a word has a line end. */
static bool one_line(const struct job_file *job)
{
    const char *texts[] = {job->line, job->target, options_of(job, told_last, true),
                           job->a->positional_count > 0 ? job->a->positional[0] : ""};
    for (unsigned i = 0; i < sizeof texts / sizeof texts[0]; i++)
        for (const char *c = texts[i]; *c != '\0'; c++)
            if (iscntrl((unsigned char)*c))
                return false;
    return true;
}

bool emit_job(const struct arguments *a, const struct share_arguments *share, const char *db,
              struct arena *arena, FILE *out, struct error *error)
{
    struct job_file job = {.a = a, .arena = arena};
    const size_t bytes = strlen(db);
    const bool named = bytes > 3 && strcmp(db + bytes - 3, ".db") == 0;
    const char *stem = arena_format(arena, "%.*s", (int)(named ? bytes - 3 : bytes), db);
    if (share->shards > SHARD_MAX)
        return error_set(error, "--shards: at most %d", SHARD_MAX);
    job.shards = (unsigned)share->shards;
    job.threads = arguments_threads(share->threads, 1);
    job.name = name_of(arena, stem);
    job.prefix = shell_word(arena, stem);
    job.target = shell_word(arena, db);
    job.line = options_of(&job, left_out, false);
    if (a->positional_count > 0 && strcmp(a->positional[0], "-") == 0)
        return error_set(error, "--emit: the job reads the scenario later; name its file");
    if (!one_line(&job))
        return error_set(error, "--emit: a word of the line has a line end or another control "
                                "character, which a job file cannot hold");
    if (share->emit == EMIT_SLURM)
        print_slurm(&job, out);
    else
        print_k8s(&job, out);
    return true;
}
