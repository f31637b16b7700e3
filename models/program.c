#include "models/program.h"
