// `baton`: reads the command line and calls the command.
#include "app/command_line.h"

int main(int argc, char** argv) {
    return baton::app::CommandLine().run(argc, argv);
}
