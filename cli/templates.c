/* The table of the models that `gess new` writes. The build puts the files of examples/new into headers, as arrays that
 * end with a NUL: those of examples/new/c are new_c_…, in new_c.h. */
#include "templates.h"

#include "new_c.h"
#include "new_cuda.h"
#include "new_cxx.h"
#include "new_data.h"
#include "new_exec.h"
#include "new_fortran.h"
#include "new_python.h"
#include "new_stan.h"

#include <stddef.h>

#define MODEL "the model: change it to yours"
#define DATA "its data"
#define MAKE "builds it"
#define README "how to build and sample it"

static const struct template_file c[] = {{"@.c", new_c_model_c, MODEL},
                                         {"data.csv", new_data_csv, DATA},
                                         {"Makefile", new_c_Makefile, MAKE},
                                         {"README.md", new_c_README_md, README},
                                         {NULL, NULL, NULL}};

static const struct template_file cxx[] = {{"@.cpp", new_cxx_model_cpp, MODEL},
                                           {"data.csv", new_data_csv, DATA},
                                           {"Makefile", new_cxx_Makefile, MAKE},
                                           {"README.md", new_cxx_README_md, README},
                                           {NULL, NULL, NULL}};

static const struct template_file fortran[] = {{"@.f90", new_fortran_model_f90, MODEL},
                                               {"data.csv", new_data_csv, DATA},
                                               {"Makefile", new_fortran_Makefile, MAKE},
                                               {"README.md", new_fortran_README_md, README},
                                               {NULL, NULL, NULL}};

static const struct template_file python[] = {{"@.py", new_python_model_py, MODEL},
                                              {"data.csv", new_data_csv, DATA},
                                              {"README.md", new_python_README_md, "how to sample it"},
                                              {NULL, NULL, NULL}};

static const struct template_file stan[] = {{"@.stan", new_stan_model_stan, MODEL},
                                            {"data.json", new_stan_data_json, DATA},
                                            {"Makefile", new_stan_Makefile, "builds it with BridgeStan"},
                                            {"README.md", new_stan_README_md, README},
                                            {NULL, NULL, NULL}};

static const struct template_file exec[] = {{"@.py", new_exec_model_py, "the program: change it to yours"},
                                            {"data.csv", new_data_csv, DATA},
                                            {"README.md", new_exec_README_md, "how to sample it"},
                                            {NULL, NULL, NULL}};

static const struct template_file cuda[] = {{"@.cu", new_cuda_model_cu, MODEL},
                                            {"data.csv", new_data_csv, DATA},
                                            {"README.md", new_cuda_README_md, "how to sample it"},
                                            {NULL, NULL, NULL}};

#define BUILT "make -C @\ngess sample ./@/@.so --data @/data.csv\n"

const struct template templates[TEMPLATES] =
    {{"c", c, BUILT},
     {"c++", cxx, BUILT},
     {"fortran", fortran, BUILT},
     {"python", python, "python3 @/@.py     # needs the Python package: `make python` in the sources of gess\n"},
     {"stan", stan,
      "make -C @ BRIDGESTAN=FOLDER      (with BridgeStan in FOLDER)\n"
      "gess sample ./@/@_model.so --data @/data.json\n"},
     {"exec", exec, "gess sample 'exec:python3 @/@.py' --data @/data.csv\n"},
     {"cuda", cuda,
      "gess sample @/@.cu --data @/data.csv                   # on the processor\n"
      "gess sample @/@.cu --data @/data.csv --device cuda     # on a GPU\n"}};
