#ifndef RIDEPULSE_CLIBYAML_H
#define RIDEPULSE_CLIBYAML_H

#include <yaml.h>

#endif
