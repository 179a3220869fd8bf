/* Pages: the paper's claims beside the measurements, as HTML, JSON, CSV and Markdown. */
#include "reproduce/reproduce.h"

#include "base/cpu.h"
#include "base/csv.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *const rulings[] = {"holds", "holds in part", "does not hold", "not judged"};
static const char *const classes[] = {"good", "part", "bad", "none"};

static const char style[] =
    ":root{--page:#f6f7f9;--card:#fff;--ink:#1b2430;--quiet:#566173;--line:#dde2e9;--accent:#0b62a8}"
    "*{box-sizing:border-box}body{margin:0;background:var(--page);color:var(--ink);font:16px/1.5 "
    "system-ui,-apple-system,"
    "\"Segoe UI\",Roboto,Arial,sans-serif}main{width:min(100%,74rem);margin:0 auto;padding:1.5rem 1.25rem 3rem}"
    "h1{font-size:1.6rem;line-height:1.2;margin:0 0 .5rem}h2{font-size:1.15rem;margin:1.75rem 0 .5rem}"
    "p,ul{margin:0 0 .6rem}a{color:var(--accent)}.quiet,figcaption{color:var(--quiet);font-size:.92rem}"
    ".scaled{background:#fdf3dd;color:#6d4700;border-left:.3rem solid #e0a92e;padding:.6rem 1rem;border-radius:.4rem}"
    "figure{margin:1rem 0;background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:1rem}"
    "figure img{display:block;width:100%;height:auto}figcaption{margin-top:.6rem}"
    ".scroll{overflow-x:auto;background:var(--card);border:1px solid var(--line);border-radius:.6rem;margin:0 0 1rem}"
    "table{border-collapse:collapse;width:100%;font-size:.9rem;font-variant-numeric:tabular-nums}"
    "th,td{padding:.4rem .7rem;text-align:left;border-bottom:1px solid var(--line);vertical-align:top}"
    "th{color:var(--quiet);font-weight:600}tr:last-child td{border-bottom:0}"
    "td.number{text-align:right;white-space:nowrap}td.below{background:#e2edfa;color:#0a4d86;white-space:nowrap}"
    "td.above{white-space:nowrap}td.omitted{color:#8a94a3;white-space:nowrap}td.first{background:#e5f4eb;white-space:"
    "nowrap}"
    ".verdict{font-weight:600;white-space:nowrap}.good{color:#12733f}.part{color:#8a5a00}.bad{color:#b3261e}"
    ".none{color:var(--quiet)}";

/* The options that decide which cells a page has. */
static json_t *reproduction_of(const gess__reproduction *r)
{
    json_t *budgets = json_array(), *iterations = json_array();
    for (size_t i = 0; i < r->budgets; i++) json_array_append_new(budgets, json_real(r->budget[i]));
    for (size_t i = 0; i < r->iteration_counts; i++)
        json_array_append_new(iterations, json_integer((json_int_t)r->iterations[i]));
    return json_pack("{s:b, s:b, s:f, s:I, s:I, s:s?, s:o, s:o, s:s}", "partial", r->partial, "quick", r->quick,
                     "scale", r->scale, "trials", (json_int_t)r->trials, "seed", (json_int_t)r->seed, "only", r->only,
                     "budgets", budgets, "iterations", iterations, "version",
                     r->version != NULL ? r->version : gess_version());
}

json_t *gess__page_new(const gess__figure *figure, const gess__reproduction *r)
{
    char date[32];
    time_t now = time(NULL);
    struct tm utc;
    strftime(date, sizeof date, "%Y-%m-%d", gmtime_r(&now, &utc));
    return json_pack("{s:s, s:s, s:s, s:{s:s, s:s, s:s, s:s, s:b, s:o, s:I, s:b}, s:o, s:[], s:[], s:[], s:[], s:[], "
                     "s:[], s:[]}",
                     "name", figure->name, "title", figure->title, "paper", "", "made with", "version", gess_version(),
                     "commit", gess__commit(), "date", date, "cpu", gess__cpu_name(), "quick", r->quick, "trials",
                     figure->by_trials ? json_integer((json_int_t)r->trials) : json_null(), "first seed",
                     (json_int_t)r->seed, "part", r->only != NULL, "reproduction", reproduction_of(r), "setup",
                     "claims", "plots", "tables", "missing", "notes", "data");
}

void gess__page_scale(json_t *page, double factor)
{
    json_t *made = json_object_get(page, "made with");
    double min = gess__json_real(made, "scale"), max = gess__json_real(made, "scale_most");
    json_object_set_new(made, "scale", json_real(fmin(factor, min)));
    json_object_set_new(made, "scale_most", json_real(fmax(factor, max)));
}

/* A formatted text, as JSON. */
static json_t *text_of(const char *format, va_list args)
{
    char *text = NULL;
    if (vasprintf(&text, format, args) < 0) return NULL;
    json_t *made = json_string(text);
    free(text);
    return made;
}

void gess__page_text(json_t *page, const char *list, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    json_t *text = text_of(format, args), *target = json_object_get(page, list);
    va_end(args);
    if (json_is_array(target))
        json_array_append_new(target, text);
    else
        json_object_set_new(page, list, text);
}

void gess__page_claim(json_t *page, enum gess__ruling ruling, const char *claim, const char *measured, ...)
{
    va_list args;
    va_start(args, measured);
    json_t *text = text_of(measured, args);
    va_end(args);
    json_array_append_new(json_object_get(page, "claims"),
                          json_pack("{s:s, s:o, s:s}", "claim", claim, "measured", text, "verdict", rulings[ruling]));
}

void gess__page_data(json_t *page, json_t *row)
{
    json_array_append_new(json_object_get(page, "data"), row);
}

json_t *gess__page_table(json_t *page, const char *title, const char *head)
{
    json_t *columns = json_array(), *rows = json_array();
    for (size_t length; *head != '\0'; head += length + (head[length] == '|')) {
        length = strcspn(head, "|");
        json_array_append_new(columns, json_stringn(head, length));
    }
    json_array_append_new(json_object_get(page, "tables"),
                          json_pack("{s:s, s:o, s:o}", "title", title, "head", columns, "rows", rows));
    return rows;
}

void gess__page_cell(json_t *row, const char *class, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    json_t *text = text_of(format, args);
    va_end(args);
    json_array_append_new(row, class == NULL ? text : json_pack("{s:o, s:s}", "text", text, "class", class));
}

/* ---- HTML ---- */

static void put(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        const char *escaped = *text == '<'   ? "&lt;"
                              : *text == '>' ? "&gt;"
                              : *text == '&' ? "&amp;"
                              : *text == '"' ? "&quot;"
                                             : NULL;
        if (escaped != NULL)
            fputs(escaped, out);
        else
            fputc(*text, out);
    }
}

/* A cell of a Markdown table. */
static void put_plain(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (strchr("|\\*_<`", *text) != NULL) fputc('\\', out);
        fputc(*text, out);
    }
}

/* What a page was made with, escaped by `escape`, since it has the texts of --only. */
static void put_making(FILE *out, const json_t *page, void (*escape)(FILE *, const char *))
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (memory == NULL) return;
    gess__put_making(memory, page);
    fclose(memory);
    if (text != NULL) escape(out, text);
    free(text);
}

static void put_list(FILE *out, const json_t *list, const char *title)
{
    size_t i;
    const json_t *item;
    if (json_array_size(list) == 0) return;
    fprintf(out, "<h2>%s</h2>\n<ul>\n", title);
    json_array_foreach(list, i, item)
    {
        fputs("<li>", out);
        put(out, json_string_value(item));
        fputs("</li>\n", out);
    }
    fputs("</ul>\n", out);
}

static void put_head(FILE *out, const char *title)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
          out);
    put(out, title);
    fprintf(out, "</title>\n<style>%s</style>\n</head>\n<body>\n<main>\n<h1>", style);
    put(out, title);
    fputs("</h1>\n", out);
}

static const char *class_of(const char *verdict)
{
    for (size_t i = 0; i < sizeof rulings / sizeof *rulings; i++)
        if (strcmp(verdict, rulings[i]) == 0) return classes[i];
    return "none";
}

static void put_claims(FILE *out, const json_t *claims)
{
    size_t i;
    const json_t *claim;
    fputs("<div class=\"scroll\"><table>\n<tr><th>The paper</th><th>Here</th><th>Verdict</th></tr>\n", out);
    json_array_foreach(claims, i, claim)
    {
        const char *verdict = gess__json_text(claim, "verdict");
        fputs("<tr><td>", out);
        put(out, gess__json_text(claim, "claim"));
        fputs("</td><td>", out);
        put(out, gess__json_text(claim, "measured"));
        fprintf(out, "</td><td class=\"verdict %s\">%s</td></tr>\n", class_of(verdict), verdict);
    }
    fputs("</table></div>\n", out);
}

static void put_row(FILE *out, const json_t *row)
{
    size_t i;
    const json_t *cell;
    fputs("<tr>", out);
    json_array_foreach(row, i, cell)
    {
        if (json_is_string(cell)) {
            fputs("<td>", out);
            put(out, json_string_value(cell));
        } else {
            fprintf(out, "<td class=\"%s\">", gess__json_text(cell, "class"));
            put(out, gess__json_text(cell, "text"));
        }
        fputs("</td>", out);
    }
    fputs("</tr>\n", out);
}

static void put_table(FILE *out, const json_t *table)
{
    size_t i;
    const json_t *item;
    fputs("<h2>", out);
    put(out, gess__json_text(table, "title"));
    fputs("</h2>\n<div class=\"scroll\"><table>\n<tr>", out);
    json_array_foreach(json_object_get(table, "head"), i, item)
    {
        fputs("<th>", out);
        put(out, json_string_value(item));
        fputs("</th>", out);
    }
    fputs("</tr>\n", out);
    json_array_foreach(json_object_get(table, "rows"), i, item) put_row(out, item);
    fputs("</table></div>\n", out);
}

static void put_plot(FILE *out, const json_t *plot)
{
    fputs("<figure><img src=\"", out);
    put(out, gess__json_text(plot, "file"));
    fputs(".svg\" alt=\"", out);
    put(out, gess__json_text(plot, "caption"));
    fputs("\"><figcaption>", out);
    put(out, gess__json_text(plot, "caption"));
    fputs("</figcaption></figure>\n", out);
}

static void put_shortfall(FILE *out, const char *class, const char *text)
{
    if (text[0] == '\0') return;
    fprintf(out, "<p class=\"%s\">", class);
    put(out, text);
    fputs("</p>\n", out);
}

static void put_page(FILE *out, const void *what)
{
    const json_t *page = what, *item;
    char scaled[512];
    size_t i;
    gess__page_shortfall(page, scaled, sizeof scaled);
    put_head(out, gess__json_text(page, "title"));
    fputs("<p>", out);
    put(out, gess__json_text(page, "paper"));
    fputs("</p>\n", out);
    put_shortfall(out, "scaled", scaled);
    put_claims(out, json_object_get(page, "claims"));
    json_array_foreach(json_object_get(page, "plots"), i, item) put_plot(out, item);
    json_array_foreach(json_object_get(page, "tables"), i, item) put_table(out, item);
    put_list(out, json_object_get(page, "missing"), "Cells that are missing");
    put_list(out, json_object_get(page, "setup"), "How it was measured");
    put_list(out, json_object_get(page, "notes"), "Notes");
    fputs("<p class=\"quiet\">", out);
    put_making(out, page, put);
    fprintf(out,
            " Data: <a href=\"%s.csv\">CSV</a>, <a href=\"%s.json\">JSON</a>. <a href=\"index.html\">All "
            "figures</a></p>\n</main>\n</body>\n</html>\n",
            gess__json_text(page, "name"), gess__json_text(page, "name"));
}

/* ---- CSV ---- */

static void put_value(FILE *out, const json_t *value)
{
    if (json_is_integer(value))
        fprintf(out, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        fprintf(out, "%.10g", json_real_value(value));
    else if (json_is_string(value))
        gess__csv_put_name(out, json_string_value(value));
    else if (json_is_boolean(value))
        fputc(json_is_true(value) ? '1' : '0', out);
    else
        fputs("nan", out);
}

void gess__page_csv(FILE *out, const void *what)
{
    const json_t *data = json_object_get(what, "data"), *first = json_array_get(data, 0), *row, *value;
    const char *key;
    size_t i;
    const char *before = "";
    json_object_foreach((json_t *)(uintptr_t)first, key, value)
    {
        fprintf(out, "%s%s", before, key);
        before = ",";
    }
    fputc('\n', out);
    json_array_foreach(data, i, row)
    {
        before = "";
        json_object_foreach((json_t *)(uintptr_t)first, key, value)
        {
            fputs(before, out);
            put_value(out, json_object_get(row, key));
            before = ",";
        }
        fputc('\n', out);
    }
}

int gess__page_store(const gess__reproduction *r, const gess__figure *figure, const json_t *page, gess_error *err)
{
    char name[128];
    snprintf(name, sizeof name, "%s.csv", figure->name);
    GESS_TRY(gess__store_file(r, name, gess__page_csv, page, err));
    snprintf(name, sizeof name, "%s.html", figure->name);
    GESS_TRY(gess__store_file(r, name, put_page, page, err));
    snprintf(name, sizeof name, "%s.json", figure->name);
    return gess__store_json(r, name, page, err);
}

/* ---- all pages ---- */

static void put_index(FILE *out, const void *what)
{
    size_t i;
    const json_t *page;
    put_head(out, "The paper, reproduced");
    fputs("<p>R. Nishihara, I. Murray and R. P. Adams, <em>Parallel MCMC with Generalized Elliptical Slice "
          "Sampling</em>, JMLR 15 (2014): its claims beside what gess measures. Verdicts are computed from the "
          "data.</p>\n",
          out);
    json_array_foreach((const json_t *)what, i, page)
    {
        char scaled[512];
        gess__page_shortfall(page, scaled, sizeof scaled);
        fprintf(out, "<h2><a href=\"%s.html\">", gess__json_text(page, "name"));
        put(out, gess__json_text(page, "title"));
        fputs("</a></h2>\n", out);
        put_shortfall(out, "quiet", scaled);
        put_claims(out, json_object_get(page, "claims"));
    }
    fputs("</main>\n</body>\n</html>\n", out);
}

/* The number of claims per verdict. */
static void put_balance(FILE *out, const json_t *pages)
{
    size_t count[sizeof rulings / sizeof *rulings] = {0};
    for (size_t i = 0; i < json_array_size(pages); i++) {
        const json_t *claims = json_object_get(json_array_get(pages, i), "claims");
        for (size_t k = 0; k < json_array_size(claims); k++)
            for (size_t v = 0; v < sizeof rulings / sizeof *rulings; v++)
                count[v] += strcmp(gess__json_text(json_array_get(claims, k), "verdict"), rulings[v]) == 0;
    }
    fputs("\nOf the claims below:", out);
    for (size_t v = 0; v < sizeof rulings / sizeof *rulings; v++)
        fprintf(out, "%s %zu %s", v > 0 ? "," : "", count[v], rulings[v]);
    fputs(".\n", out);
}

static void put_missing(FILE *out, const json_t *missing)
{
    size_t i;
    const json_t *item;
    if (json_array_size(missing) == 0) return;
    fputs("\n\nMissing cells:\n", out);
    json_array_foreach(missing, i, item)
    {
        fputs("\n- ", out);
        put_plain(out, json_string_value(item));
    }
}

static void put_results(FILE *out, const void *what)
{
    size_t i, k;
    const json_t *page, *claim;
    fputs("# The paper's claims, and what was measured\n\nWritten by `gess reproduce`; verdicts are computed from the "
          "data.\n",
          out);
    put_balance(out, what);
    json_array_foreach((const json_t *)what, i, page)
    {
        char scaled[512];
        gess__page_shortfall(page, scaled, sizeof scaled);
        fprintf(out, "\n## %s\n\n", gess__json_text(page, "title"));
        put_plain(out, scaled);
        if (scaled[0] != '\0') fputs("\n\n", out);
        if (json_array_size(json_object_get(page, "plots")) > 0)
            fprintf(out, "![%s](%s.svg)\n\n", gess__json_text(page, "name"),
                    gess__json_text(json_array_get(json_object_get(page, "plots"), 0), "file"));
        put_making(out, page, put_plain);
        put_missing(out, json_object_get(page, "missing"));
        fputs("\n\n| the paper | here | verdict |\n|---|---|---|\n", out);
        json_array_foreach(json_object_get(page, "claims"), k, claim)
        {
            fputs("| ", out);
            put_plain(out, gess__json_text(claim, "claim"));
            fputs(" | ", out);
            put_plain(out, gess__json_text(claim, "measured"));
            fprintf(out, " | **%s** |\n", gess__json_text(claim, "verdict"));
        }
    }
}

int gess__page_index(const gess__reproduction *r, gess_error *err)
{
    char path[4400];
    json_t *pages = json_array();
    for (size_t i = 0; gess__figure_row(i) != NULL; i++) {
        snprintf(path, sizeof path, "%s/%s.json", r->directory, gess__figure_row(i)->name);
        json_t *page = json_load_file(path, 0, NULL);
        if (page != NULL) json_array_append_new(pages, page);
    }
    int status = gess__store_file(r, "index.html", put_index, pages, err);
    if (status == GESS_OK) status = gess__store_file(r, "results.md", put_results, pages, err);
    json_decref(pages);
    return status;
}
