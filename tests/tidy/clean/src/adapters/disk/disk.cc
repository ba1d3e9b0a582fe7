#include <sys/stat.h>
#include <fstream>

void fail() { throw 1; }
