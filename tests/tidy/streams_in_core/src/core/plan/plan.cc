#include <fstream>
#include <iostream>
