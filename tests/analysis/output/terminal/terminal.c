#include "tests/analysis/output/terminal/terminal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include "sim/check.h"

bool terminal_possible(void)
{
    int outer = posix_openpt(O_RDWR | O_NOCTTY);
    if (outer >= 0)
        close(outer);
    return outer >= 0;
}

int terminal_open(int *inner)
{
    int outer = posix_openpt(O_RDWR | O_NOCTTY);
    CHECK(outer >= 0 && grantpt(outer) == 0 && unlockpt(outer) == 0);
    *inner = open(ptsname(outer), O_RDWR | O_NOCTTY);
    struct termios how;
    CHECK(*inner >= 0 && tcgetattr(*inner, &how) == 0);
    cfmakeraw(&how);
    CHECK(tcsetattr(*inner, TCSANOW, &how) == 0);
    CHECK(fcntl(outer, F_SETFL, O_NONBLOCK) == 0);
    return outer;
}
