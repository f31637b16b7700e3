#include "analysis/output/plot/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/output/plot/palette.h"
#include "analysis/output/text/utf8.h"

enum {
    LABEL_GAP = 16,
    CHARACTER_WIDTH = 7, /* of 12 units of sans-serif, on average */
    WORD_MOST = 28,      /* characters of a word on an axis */
    LINE_HEIGHT = 18,
    NOTE_MARGIN = 16,
    KEY_SIZE = 10
};
static const double slant_degrees = 35.0;

/* Chosen so that they stand out from white by 3:1 and from each other, with or without each kind of
 * cone (a test computes both). */
const char *plot_colour(unsigned index)
{
    static const char *const colours[PLOT_COLOUR_COUNT] = {
        "#0072b2", "#d55e00", "#8c1cfc", "#a87070", "#701c00", "#00008c", "#541c54", "#000000"};
    return colours[index % PLOT_COLOUR_COUNT];
}

static void put_escaped(FILE *out, const char *text);

static void put_element(FILE *out, const char *name, const char *text)
{
    fprintf(out, "<%s>", name);
    put_escaped(out, text);
    fprintf(out, "</%s>", name);
}

void plot_page_begin(FILE *out, const struct plot_page *page)
{
    const char *note = page->note != NULL ? page->note : "";
    const unsigned columns = (unsigned)((page->width - 2.0 * NOTE_MARGIN) / CHARACTER_WIDTH);
    const unsigned lines = plot_paragraph(NULL, 0.0, 0.0, columns, note);
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" "
            "font-family=\"sans-serif\" font-size=\"12\">\n",
            page->width, page->height + (double)(lines * LINE_HEIGHT));
    put_element(out, "title", page->title);
    fputs("<desc>", out);
    put_escaped(out, page->description);
    put_escaped(out, lines > 0 ? " " : "");
    put_escaped(out, note);
    fputs("</desc>", out);
    fprintf(out, "\n<defs><pattern id=\"idle\" width=\"6\" height=\"6\" "
                 "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
                 "<rect width=\"6\" height=\"6\" fill=\"#f4f4f4\"/>"
                 "<path d=\"M0 0V6\" stroke=\"#8a8a8a\" stroke-width=\"1\"/></pattern></defs>\n"
                 "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n");
    plot_paragraph(out, NOTE_MARGIN, page->height + 0.5 * LINE_HEIGHT, columns, note);
}

struct plot_hatching plot_hatching(FILE *out, const char *name, const char *colour)
{
    struct plot_hatching hatching;
    fprintf(out,
            "<defs><pattern id=\"hatch-%s\" width=\"6\" height=\"6\" "
            "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(-45)\">"
            "<rect width=\"6\" height=\"6\" fill=\"#fff\"/>"
            "<path d=\"M0 0V6\" stroke=\"%s\" stroke-width=\"5\"/></pattern></defs>\n",
            name, colour);
    snprintf(hatching.fill, sizeof hatching.fill, "url(#hatch-%s)", name);
    return hatching;
}

void plot_page_end(FILE *out)
{
    fprintf(out, "</svg>\n");
}

/* XML takes no control characters and no broken UTF-8. */
static void put_escaped(FILE *out, const char *text)
{
    for (unsigned left = (unsigned)strlen(text), length; left > 0; left -= length, text += length) {
        length = utf8_length((const unsigned char *)text, left);
        if (length == 0) {
            length = 1;
            fputs("\xef\xbf\xbd", out);
        } else if (*text == '<') {
            fputs("&lt;", out);
        } else if (*text == '>') {
            fputs("&gt;", out);
        } else if (*text == '&') {
            fputs("&amp;", out);
        } else if ((unsigned char)*text >= ' ') {
            fwrite(text, 1, length, out);
        }
    }
}

static unsigned characters(const char *text)
{
    unsigned count = 0;
    for (; *text; text++)
        count += ((unsigned char)*text & 0xc0) != 0x80;
    return count;
}

double plot_text_width(const char *text)
{
    return (double)(characters(text) * CHARACTER_WIDTH);
}

void plot_text(FILE *out, double x, double y, const char *anchor, const char *text)
{
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"#333\">", x, y, anchor);
    put_escaped(out, text);
    fputs("</text>\n", out);
}

void plot_heading(FILE *out, double x, double y, const char *text)
{
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"14\" font-weight=\"bold\">", x, y);
    put_escaped(out, text);
    fputs("</text>\n", out);
}

unsigned plot_paragraph(FILE *out, double x, double y, unsigned columns, const char *text)
{
    unsigned lines = 0;
    while (*text != '\0') {
        size_t end = 0, space = 0;
        for (unsigned shown = 0; text[end] != '\0' && shown <= columns; end++) {
            space = text[end] == ' ' ? end : space;
            shown += ((unsigned char)text[end] & 0xc0) != 0x80;
        }
        if (text[end] != '\0' && space > 0)
            end = space;
        char *line = strndup(text, end);
        if (out != NULL && line != NULL)
            plot_text(out, x, y + (double)(lines * LINE_HEIGHT), "start", line);
        free(line);
        lines++;
        text += end;
        text += strspn(text, " ");
    }
    return lines;
}

/* Where a value stands on its axis, from 0 to 1. */
static double transformer_share_of(const struct plot_axis *axis, double value)
{
    double share = axis->log ? log(value / axis->low) / log(axis->high / axis->low)
                             : (value - axis->low) / (axis->high - axis->low);
    return fmin(fmax(share, 0.0), 1.0);
}

double plot_x(const struct plot *plot, double value)
{
    return plot->left + plot->width * transformer_share_of(&plot->x, value);
}

double plot_y(const struct plot *plot, double value)
{
    return plot->top + plot->height * (1.0 - transformer_share_of(&plot->y, value));
}

static void grid_x(const struct plot *plot, double x)
{
    fprintf(plot->out, "<path d=\"M%.1f %.1fV%.1f\" stroke=\"#e4e4e4\"/>\n", x, plot->top,
            plot->top + plot->height);
}

/* The largest word, in SVG units. */
static double widest(const struct plot_axis *axis)
{
    double most = 0.0;
    for (size_t i = 0; i < axis->word_count; i++)
        most = fmax(most, fmin(plot_text_width(axis->words[i]), WORD_MOST * CHARACTER_WIDTH));
    return most;
}

static bool slanted(const struct plot *plot)
{
    return plot->x.words != NULL &&
           widest(&plot->x) + CHARACTER_WIDTH > plot->width / (double)plot->x.word_count;
}

double plot_room_below(const struct plot *plot)
{
    const double radians = slant_degrees * 3.14159265358979 / 180.0;
    double words = slanted(plot) ? widest(&plot->x) * sin(radians) : 0.0;
    return words + 2.6 * LABEL_GAP;
}

/* A word of an axis, cut where it is too long. */
static void put_word(FILE *out, const char *word)
{
    const char *end = word;
    for (unsigned i = 0; *end && i < WORD_MOST; i++)
        do
            end++;
        while (((unsigned char)*end & 0xc0) == 0x80);
    char cut[4 * WORD_MOST + 1];
    size_t bytes = (size_t)(end - word) < sizeof cut ? (size_t)(end - word) : sizeof cut - 1;
    memcpy(cut, word, bytes);
    cut[bytes] = '\0';
    put_escaped(out, cut);
    if (*end)
        fputs("\xe2\x80\xa6", out);
}

static void draw_word_x(const struct plot *plot, size_t i)
{
    double x = plot_x(plot, (double)i), y = plot->top + plot->height + LABEL_GAP;
    if (slanted(plot))
        fprintf(plot->out,
                "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\" fill=\"#333\" "
                "transform=\"rotate(-%.0f %.1f %.1f)\">",
                x + 4.0, y - 2.0, slant_degrees, x + 4.0, y - 2.0);
    else
        fprintf(plot->out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" fill=\"#333\">", x,
                y);
    put_word(plot->out, plot->x.words[i]);
    fputs("</text>\n", plot->out);
}

static void draw_word_y(const struct plot *plot, size_t i)
{
    fprintf(plot->out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\" fill=\"#333\">",
            plot->left - 6.0, plot_y(plot, (double)i) + 4.0);
    put_word(plot->out, plot->y.words[i]);
    fputs("</text>\n", plot->out);
}

/* Labels that would touch the one before are left out; their lines stay. */
static void draw_ticks_x(const struct plot *plot)
{
    struct plot_tick ticks[PLOT_TICK_MAX];
    unsigned count = plot_ticks(&plot->x, ticks);
    double free_from = -INFINITY;
    for (unsigned i = 0; i < count; i++) {
        double x = plot_x(plot, ticks[i].value), half = plot_text_width(ticks[i].label.s) / 2.0;
        grid_x(plot, x);
        if (x - half < free_from)
            continue;
        free_from = x + half + CHARACTER_WIDTH;
        plot_text(plot->out, x, plot->top + plot->height + LABEL_GAP, "middle", ticks[i].label.s);
    }
}

static void draw_ticks_y(const struct plot *plot)
{
    struct plot_tick ticks[PLOT_TICK_MAX];
    unsigned count = plot_ticks(&plot->y, ticks);
    for (unsigned i = 0; i < count; i++) {
        double y = plot_y(plot, ticks[i].value);
        fprintf(plot->out, "<path d=\"M%.1f %.1fH%.1f\" stroke=\"#e4e4e4\"/>\n", plot->left, y,
                plot->left + plot->width);
        plot_text(plot->out, plot->left - 6.0, y + 4.0, "end", ticks[i].label.s);
    }
}

void plot_frame(const struct plot *plot, const char *title)
{
    double middle = plot->left + plot->width / 2.0, bottom = plot->top + plot->height;
    if (plot->x.words == NULL)
        draw_ticks_x(plot);
    for (size_t i = 0; plot->x.words != NULL && i < plot->x.word_count; i++)
        draw_word_x(plot, i);
    if (plot->y.words == NULL)
        draw_ticks_y(plot);
    for (size_t i = 0; plot->y.words != NULL && i < plot->y.word_count; i++)
        draw_word_y(plot, i);
    fprintf(plot->out,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"none\" "
            "stroke=\"#777\"/>\n",
            plot->left, plot->top, plot->width, plot->height);
    plot_text(plot->out, middle, bottom + plot_room_below(plot) - 6.0, "middle", plot->x.label);
    plot_text(plot->out, plot->left - 50.0, plot->top - 10.0, "start", plot->y.label);
    plot_text(plot->out, middle, 18.0, "middle", title);
}

void plot_line(const struct plot *plot, const double *x, const double *y, size_t count,
               const char *colour, bool dashed)
{
    fprintf(plot->out, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.8\"%s d=\"", colour,
            dashed ? " stroke-dasharray=\"5 4\"" : "");
    const char *move = "M";
    for (size_t i = 0; i < count; i++) {
        if (isfinite(x[i]) && isfinite(y[i])) {
            fprintf(plot->out, "%s%.1f %.1f", move, plot_x(plot, x[i]), plot_y(plot, y[i]));
            move = "L";
        }
    }
    fputs("\"/>\n", plot->out);
}

void plot_band(const struct plot *plot, const struct band *band, const char *colour, double opacity)
{
    fprintf(plot->out, "<path fill=\"%s\" fill-opacity=\"%.2f\" d=\"", colour, opacity);
    for (size_t i = 0; i < band->count; i++)
        fprintf(plot->out, "%s%.1f %.1f", i ? "L" : "M", plot_x(plot, band->x[i]),
                plot_y(plot, band->high[i]));
    for (size_t i = band->count; i > 0; i--)
        fprintf(plot->out, "L%.1f %.1f", plot_x(plot, band->x[i - 1]),
                plot_y(plot, band->low[i - 1]));
    fputs("Z\"/>\n", plot->out);
}

void plot_dot(const struct plot *plot, double x, double y, const char *colour, const char *tip)
{
    if (!isfinite(x) || !isfinite(y))
        return;
    fprintf(plot->out,
            "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.6\" fill=\"%s\" fill-opacity=\".75\">",
            plot_x(plot, x), plot_y(plot, y), colour);
    if (tip) {
        fputs("<title>", plot->out);
        put_escaped(plot->out, tip);
        fputs("</title>", plot->out);
    }
    fputs("</circle>\n", plot->out);
}

void plot_cross(const struct plot *plot, double x, const char *tip)
{
    double at = plot_x(plot, x), y = plot->top + plot->height - 7.0;
    fprintf(plot->out,
            "<path d=\"M%.1f %.1fl8 8m0 -8l-8 8\" stroke=\"#333\" stroke-width=\"1.6\" "
            "fill=\"none\"><title>",
            at - 4.0, y - 4.0);
    put_escaped(plot->out, tip);
    fputs("</title></path>\n", plot->out);
}

void plot_whisker(const struct plot *plot, double x, double low, double high, const char *colour,
                  double thick)
{
    if (!isfinite(low) || !isfinite(high))
        return;
    fprintf(plot->out, "<path d=\"M%.1f %.1fV%.1f\" stroke=\"%s\" stroke-width=\"%.1f\"/>\n",
            plot_x(plot, x), plot_y(plot, low), plot_y(plot, high), colour, thick);
}

static double luminance(const char *colour)
{
    static const double weights[] = {0.2126, 0.7152, 0.0722}; /* sRGB, WCAG 2.1 */
    double sum = 0.0;
    for (unsigned i = 0; i < 3; i++) {
        char digits[3] = {colour[1 + 2 * i], colour[2 + 2 * i], '\0'};
        double level = (double)strtoul(digits, NULL, 16) / 255.0;
        sum += weights[i] * (level <= 0.04045 ? level / 12.92 : pow((level + 0.055) / 1.055, 2.4));
    }
    return sum;
}

/* Black where it stands out more than white: (L + .05) / .05 against 1.05 / (L + .05). */
static const char *ink_on(const char *colour)
{
    double light = luminance(colour) + 0.05;
    return light / 0.05 > 1.05 / light ? "#000" : "#fff";
}

/* A thin cell has no outline, which would cover it. */
void plot_cell(FILE *out, const struct plot_cell *cell)
{
    fprintf(out, "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" fill=\"%s\"", cell->x,
            cell->y, cell->width, cell->height, cell->colour != NULL ? cell->colour : "url(#idle)");
    if (cell->width >= 3.0 && cell->height >= 3.0)
        fputs(" stroke=\"#333\" stroke-width=\".4\"", out);
    if (cell->tip != NULL) {
        fputs("><title>", out);
        put_escaped(out, cell->tip);
        fputs("</title></rect>\n", out);
    } else {
        fputs("/>\n", out);
    }
    if (cell->label == NULL || cell->colour == NULL || cell->colour[0] != '#' ||
        cell->width < plot_text_width(cell->label) + 2.0)
        return;
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" fill=\"%s\">",
            cell->x + cell->width / 2.0, cell->y + cell->height / 2.0 + 4.0, ink_on(cell->colour));
    put_escaped(out, cell->label);
    fputs("</text>\n", out);
}

void plot_bar(const struct plot *plot, const struct plot_bar *bar)
{
    const double share = 0.76; /* of the height of a row */
    const double x = plot_x(plot, bar->begin), y = plot_y(plot, bar->row);
    const double height = plot->height / (double)plot->y.word_count * share;
    plot_cell(plot->out, &(struct plot_cell){x, y - height / 2.0, plot_x(plot, bar->finish) - x,
                                             height, bar->colour, bar->label, bar->tip});
}

void plot_box(const struct plot *plot, double begin, double finish, double row, const char *colour,
              const char *label)
{
    plot_bar(plot, &(struct plot_bar){begin, finish, row, colour, label, NULL});
}

void plot_label(const struct plot *plot, double x, double row, const char *text,
                enum plot_side side)
{
    const bool alarm = side == PLOT_AFTER_IN_ALARM;
    fprintf(plot->out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"%s\"%s>",
            plot_x(plot, x) + (side == PLOT_BEFORE ? -6.0 : 6.0), plot_y(plot, row) + 4.0,
            side == PLOT_BEFORE ? "end" : "start", alarm ? PALETTE_ALARM : "#333",
            alarm ? " font-weight=\"bold\"" : "");
    put_escaped(plot->out, text);
    fputs("</text>\n", plot->out);
}

void plot_region(const struct plot *plot, double low, double high, const char *colour,
                 double opacity)
{
    const double x = plot_x(plot, low);
    fprintf(plot->out,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\" "
            "fill-opacity=\"%.2f\"/>\n",
            x, plot->top, plot_x(plot, high) - x, plot->height, colour, opacity);
}

double plot_marks_room(unsigned rows)
{
    return (double)(rows * LABEL_GAP);
}

/* Near the right end the label stands to the left of its line. */
void plot_mark(const struct plot *plot, double x, const char *colour, unsigned row,
               const char *label)
{
    double at = plot_x(plot, x), y = plot->top - 6.0 - (double)(row * LABEL_GAP);
    bool left = at + 8.0 + plot_text_width(label) > plot->left + plot->width;
    fprintf(plot->out, "<path d=\"M%.1f %.1fV%.1f\" stroke=\"%s\" stroke-dasharray=\"3 3\"/>\n", at,
            y - 4.0, plot->top + plot->height, colour);
    fprintf(plot->out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", at, y - 4.0,
            colour);
    plot_text(plot->out, at + (left ? -6.0 : 6.0), y, left ? "end" : "start", label);
}

double plot_key(FILE *out, double x, double y, const char *colour, const char *text)
{
    fprintf(out,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" fill=\"%s\" "
            "stroke=\"#777\" stroke-width=\".5\"/>\n",
            x, y - 9.0, KEY_SIZE, KEY_SIZE, colour != NULL ? colour : "url(#idle)");
    plot_text(out, x + KEY_SIZE + 5.0, y, "start", text);
    return x + KEY_SIZE + 5.0 + plot_text_width(text) + 2.0 * CHARACTER_WIDTH;
}

void plot_legend_add(struct plot_legend *legend, const char *colour, const char *text)
{
    const double width = KEY_SIZE + 5.0 + plot_text_width(text) + 2.0 * CHARACTER_WIDTH;
    if (legend->x > legend->left && legend->x + width > legend->right) {
        legend->x = legend->left;
        legend->y += LINE_HEIGHT;
    }
    if (legend->out != NULL)
        plot_key(legend->out, legend->x, legend->y, colour, text);
    legend->x += width;
}
