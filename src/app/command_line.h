// The command line of `baton`: its commands and options, with their descriptions. Help, completions
// and the manual page are made of it.
#pragma once

#include <memory>

namespace baton::app {

class CommandLine {
public:
    CommandLine();
    ~CommandLine();
    CommandLine(const CommandLine&) = delete;
    CommandLine& operator=(const CommandLine&) = delete;

    // Runs the command; the exit status. Wrong usage is 2.
    [[nodiscard]] int run(int argc, char** argv);

private:
    struct Words;  // what is read of the line
    std::unique_ptr<Words> words_;
};

}  // namespace baton::app
