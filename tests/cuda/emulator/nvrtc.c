/* NVRTC by the machine's C++ compiler: the functions that src/cuda uses. The code is a shared object. */
#include <nvrtc.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct _nvrtcProgram {
    char folder[64];
    char *log, *code;
    size_t size;
};

/* The compiler's own are used. */
static int is_standard(const char *name)
{
    return strchr(name, '/') == NULL && strstr(name, ".cu") == NULL;
}

static void write_text(const char *folder, const char *name, const char *text)
{
    char path[5000];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    for (char *slash = strchr(path + strlen(folder) + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    if (file == NULL) abort();
    fputs(text, file);
    fclose(file);
}

static char *read_all(const char *folder, const char *name, size_t *size)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL) return NULL;
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *bytes = calloc(1, *size + 1);
    if (fread(bytes, 1, *size, file) != *size) abort();
    fclose(file);
    return bytes;
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram *program, const char *source, const char *name, int headers,
                               const char *const *texts, const char *const *names)
{
    (void)name;
    nvrtcProgram p = calloc(1, sizeof *p);
    snprintf(p->folder, sizeof p->folder, "/tmp/emulated-XXXXXX");
    if (mkdtemp(p->folder) == NULL) abort();
    for (int i = 0; i < headers; i++)
        if (!is_standard(names[i])) write_text(p->folder, names[i], texts[i]);
    char all[4096];
    snprintf(all, sizeof all,
             "#include \"%s/device.h\"\n%s\n"
             "#ifdef GESS__BATCHED\n"
             "EMULATED_KERNEL(gess__waiting_bytes)\nEMULATED_KERNEL(gess__wait)\nEMULATED_KERNEL(gess__step)\n"
             "EMULATED_KERNEL(gess__pack)\nEMULATED_KERNEL(gess__gather)\nEMULATED_KERNEL(gess__leave)\n"
             "#else\n"
             "EMULATED_KERNEL(gess__run)\nEMULATED_KERNEL(gess__densities)\n"
             "#endif\n",
             EMULATOR_FOLDER, source);
    write_text(p->folder, "program.cc", all);
    *program = p;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram p, int count, const char *const *options)
{
    char command[16000];
    size_t used = 0, size;
    int exact = 0;
    used +=
        (size_t)snprintf(command, sizeof command,
                         "c++ -std=c++17 -O1 -w -fPIC -shared -fvisibility=hidden -ffp-contract=off -fno-math-errno "
                         "-I%s",
                         p->folder);
    for (int i = 0; i < count; i++) {
        exact |= strcmp(options[i], "--fmad=false") == 0;
        if (strncmp(options[i], "-D", 2) != 0 && strncmp(options[i], "-I", 2) != 0) continue;
        used += (size_t)snprintf(command + used, sizeof command - used, " '%s'", options[i]);
    }
    if (!exact) abort(); /* NVRTC would fuse multiplications and additions */
    snprintf(command + used, sizeof command - used, " -o %s/program.so %s/program.cc > %s/log 2>&1", p->folder,
             p->folder, p->folder);
    int status = system(command);
    p->log = read_all(p->folder, "log", &size);
    p->code = status == 0 ? read_all(p->folder, "program.so", &p->size) : NULL;
    return p->code != NULL ? NVRTC_SUCCESS : NVRTC_ERROR_COMPILATION;
}

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram p, size_t *size)
{
    *size = p->log != NULL ? strlen(p->log) + 1 : 1;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetProgramLog(nvrtcProgram p, char *text)
{
    strcpy(text, p->log != NULL ? p->log : "");
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram p, size_t *size)
{
    *size = p->size;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram p, char *code)
{
    memcpy(code, p->code, p->size);
    return NVRTC_SUCCESS;
}

const char *nvrtcGetErrorString(nvrtcResult result)
{
    return result == NVRTC_SUCCESS ? "success" : "compilation failed";
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program)
{
    char command[100];
    nvrtcProgram p = *program;
    snprintf(command, sizeof command, "rm -rf %s", p->folder);
    int status = system(command);
    free(p->log);
    free(p->code);
    free(p);
    return status == 0 ? NVRTC_SUCCESS : NVRTC_ERROR_INTERNAL_ERROR;
}
