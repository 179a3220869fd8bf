/* Densities with one mode, for counting false alarms. */
#include "modes.h"
