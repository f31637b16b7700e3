#include "topology/graph.h"
