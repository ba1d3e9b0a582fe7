// Texts made from the command line for other programs: completions for shells, a page for man.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace baton::app {

[[nodiscard]] std::string bash_completion(const CLI::App& app);
[[nodiscard]] std::string zsh_completion(const CLI::App& app);
[[nodiscard]] std::string man_page(const CLI::App& app);

}  // namespace baton::app
