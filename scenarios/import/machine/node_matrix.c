/* node_matrix.c - nvidia-smi topo -m. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/import/machine/node_topology.h"
#include "sim/plural.h"

enum {
    COLUMNS_MAX = NODE_GPUS_MAX + NODE_NICS_MAX,
    WORDS_MAX = COLUMNS_MAX + 16,
    LINKS_MAX = 64
};
enum path {
    PATH_NONE, /* not read yet */
    PATH_SELF,
    PATH_NEAR, /* PIX, PXB: PCIe switches alone */
    PATH_FAR,  /* PHB, NODE, SYS: through the CPUs */
    PATH_LINKS /* + the number of NVLinks */
};
struct matrix {
    struct import_text text;
    unsigned gpus, columns;
    bool seen[COLUMNS_MAX];
    unsigned short cells[COLUMNS_MAX][COLUMNS_MAX];
};

static bool numbered(const char *word, const char *head, unsigned number)
{
    char *end;
    const size_t length = strlen(head);
    return strncmp(word, head, length) == 0 && isdigit((unsigned char)word[length]) &&
           strtoul(word + length, &end, 10) == number && *end == '\0';
}

static bool is_nic(const char *word)
{
    return (strncmp(word, "NIC", 3) == 0 && isdigit((unsigned char)word[3])) ||
           strncmp(word, "mlx", 3) == 0 || strncmp(word, "bnxt_re", 7) == 0;
}

static bool read_head(struct matrix *m, char **words, unsigned count)
{
    while (m->gpus < count && numbered(words[m->gpus], "GPU", m->gpus))
        m->gpus++;
    for (m->columns = m->gpus; m->columns < count && is_nic(words[m->columns]);)
        m->columns++;
    return (m->gpus <= NODE_GPUS_MAX && m->columns - m->gpus <= NODE_NICS_MAX) ||
           import_text_bad(&m->text, "more than %d GPUs or %d NICs", NODE_GPUS_MAX, NODE_NICS_MAX);
}

static bool read_cell(const struct matrix *m, const char *word, unsigned short *out)
{
    static const struct {
        const char *word;
        enum path path;
    } known[] = {{"X", PATH_SELF},  {"PIX", PATH_NEAR}, {"PXB", PATH_NEAR},
                 {"PHB", PATH_FAR}, {"NODE", PATH_FAR}, {"SYS", PATH_FAR}};
    char *end;
    for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(known[i].word, word) == 0) {
            *out = (unsigned short)known[i].path;
            return true;
        }
    }
    const unsigned long links = strncmp(word, "NV", 2) == 0 ? strtoul(word + 2, &end, 10) : 0;
    if (links < 1 || links > LINKS_MAX || *end != '\0')
        return import_text_bad(&m->text, "'%s' is no connection: X, NV18, PIX, PXB, PHB, NODE, SYS",
                               import_text_quote(&m->text, word));
    *out = (unsigned short)(PATH_LINKS + links);
    return true;
}

static bool read_row(struct matrix *m, unsigned row, char **words, unsigned count)
{
    if (m->seen[row])
        return import_text_bad(&m->text, "this row stands twice");
    if (count < m->columns + 1)
        return import_text_bad(&m->text, "%u cell%s of %u: the row is cut", count - 1,
                               plural_s(count - 1), m->columns);
    m->seen[row] = true;
    for (unsigned i = 0; i < m->columns; i++) {
        if (!read_cell(m, words[1 + i], &m->cells[row][i]))
            return false;
        if ((m->cells[row][i] == PATH_SELF) != (row == i))
            return import_text_bad(&m->text, "X stands where a thing meets itself, there alone");
        if (m->cells[i][row] != PATH_NONE && m->cells[i][row] != m->cells[row][i])
            return import_text_bad(&m->text,
                                   "the matrix is not symmetric: this row and the one of "
                                   "column %u differ",
                                   i + 1);
    }
    return true;
}

/* The row that a line begins; its column, or m->columns: none. */
static unsigned row_of(const struct matrix *m, const char *word, unsigned nics_seen)
{
    for (unsigned i = 0; i < m->gpus; i++)
        if (numbered(word, "GPU", i))
            return i;
    return is_nic(word) && m->gpus + nics_seen < m->columns ? m->gpus + nics_seen : m->columns;
}

static unsigned links_between(const struct matrix *m, unsigned a, unsigned b)
{
    return m->cells[a][b] > PATH_LINKS ? m->cells[a][b] - PATH_LINKS : 0;
}

/* Does a GPU that this one reaches not reach what it reaches? */
static bool in_part(const struct matrix *m, unsigned gpu)
{
    for (unsigned i = 0; i < m->gpus; i++)
        for (unsigned k = 0; k < m->gpus; k++)
            if (i != k && k != gpu && links_between(m, gpu, i) > 0 &&
                (links_between(m, gpu, k) > 0) != (links_between(m, i, k) > 0))
                return true;
    return false;
}

static void count_links(const struct matrix *m, struct node_topology *out)
{
    bool switched = true;
    out->links = out->wired = LINKS_MAX * NODE_GPUS_MAX;
    out->linked = m->gpus;
    for (unsigned i = 0; i < m->gpus; i++) {
        unsigned links = 0, wired = 0, linked = 1;
        for (unsigned k = 0; k < m->gpus; k++) {
            const unsigned own = links_between(m, i, k);
            switched = switched && (own == 0 || links == 0 || own == links);
            links = own > links ? own : links;
            wired += own;
            linked += own > 0;
        }
        out->uneven = out->uneven || (i > 0 && (wired != out->wired || linked != out->linked));
        out->links = links < out->links ? links : out->links;
        out->wired = wired < out->wired ? wired : out->wired;
        out->linked = linked < out->linked ? linked : out->linked;
        out->meshed = out->meshed || in_part(m, i);
    }
    switched = switched && !out->meshed;
    out->switched = switched && !out->uneven && out->wired > NODE_LINKS_MAX;
    if (!switched)
        out->links = out->wired;
    else if (out->wired > NODE_LINKS_MAX || out->linked <= 2)
        out->wired = 0;
}

static void count_up(const struct matrix *m, struct node_topology *out)
{
    *out = (struct node_topology){.gpus = m->gpus, .nics = m->columns - m->gpus};
    count_links(m, out);
    for (unsigned nic = m->gpus; nic < m->columns; nic++) {
        bool near = false;
        for (unsigned i = 0; i < m->gpus; i++)
            near = near || m->cells[i][nic] == PATH_NEAR;
        out->near_nics += near;
    }
}

bool node_topology_matrix(struct arena *arena, struct import_file file, struct node_topology *out,
                          struct error *error)
{
    struct matrix *m = ARENA_NEW(arena, struct matrix);
    char *words[WORDS_MAX];
    unsigned nics_seen = 0;
    if (!import_text_begin(&m->text, arena, &file, error))
        return false;
    for (char *line = import_text_line(&m->text); line != NULL; line = import_text_line(&m->text)) {
        const unsigned count = import_text_words(line, words, WORDS_MAX);
        if (count > WORDS_MAX)
            return import_text_bad(&m->text, "more than %d columns", WORDS_MAX);
        if (count > 0 && (strcmp(words[0], "Legend:") == 0 || strcmp(words[0], "NIC") == 0))
            break;
        if (m->gpus == 0) {
            if (count > 0 && numbered(words[0], "GPU", 0) && !read_head(m, words, count))
                return false;
            continue;
        }
        const unsigned row = count > 0 ? row_of(m, words[0], nics_seen) : m->columns;
        if (row < m->columns && !read_row(m, row, words, count))
            return false;
        nics_seen += row >= m->gpus && row < m->columns;
    }
    if (m->gpus == 0)
        return error_set(error, "%s: no matrix of nvidia-smi topo -m: its head begins with GPU0",
                         file.path);
    for (unsigned i = 0; i < m->gpus; i++)
        if (!m->seen[i])
            return error_set(error, "%s: the row of GPU%u is missing: the matrix is cut", file.path,
                             i);
    count_up(m, out);
    return true;
}
