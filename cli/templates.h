/* The models that `gess new` writes, one per language. */
#ifndef GESS_CLI_TEMPLATES_H
#define GESS_CLI_TEMPLATES_H

struct template_file {
    const char *name; /* @ stands for the model's name; NULL: the end of the list */
    const unsigned char *text;
    const char *help;
};

struct template
{
    const char *language;
    const struct template_file *files;
    const char *next; /* the commands to go on with, one per line; @ stands for the model's name */
};

enum { TEMPLATES = 7 };
extern const struct template templates[TEMPLATES];

#endif
