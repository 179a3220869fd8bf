/* Expands <gess/options.def> with the macros that the includer has defined, and undefines them: an X-macro, to be
 * included several times. */
#include <gess/options.def>
#undef GESS_COUNT
#undef GESS_COUNT_OR_AUTO
#undef GESS_COUNT_AUTO_TOO
#undef GESS_REAL
#undef GESS_TIME
#undef GESS_TEXT
#undef GESS_FLAG
