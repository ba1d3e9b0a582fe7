// AllowedFiles opens the files that a plan names, beneath the directories that its worker allows.
//
// The kernel resolves each path beneath the directory (openat2): `..` and symbolic links may be
// used within it and never lead out of it, whatever is renamed meanwhile. An absolute symbolic link
// leads out, also if it leads back in. A relative path is beneath the first directory, or, where
// that is /, beneath the working directory.
//
// Regular files and named pipes are opened. Refused are devices, sockets, files of the kernel
// (/proc, /sys), files of Baton's own directories, by any name and any hard link, and every catalog
// of Baton and its log, wherever they are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <sys/stat.h>

#include "adapters/system/open_file.h"
#include "base/result.h"

namespace baton::files {

struct FileRules {
    std::vector<std::string> directories;  // none: no file is opened
    std::vector<std::string> never;        // files and directories; they need not be there
};

class AllowedFiles {
public:
    AllowedFiles() = default;  // none

    // Fails with invalid_configuration where a directory is not there.
    [[nodiscard]] static Result<AllowedFiles> of(const FileRules& rules);

    struct Opened {
        system::OpenFile file;
        struct stat state {};
    };
    // All fail with not_permitted, naming the option that would allow it, or with cannot_open. They
    // never wait, not even at a pipe.
    [[nodiscard]] Result<Opened> read(const std::string& path) const;
    // Makes the file if it is not there. Its contents stay.
    [[nodiscard]] Result<Opened> write(const std::string& path) const;

    // Where a file is to be made and renamed: its directory, and its name therein.
    struct Place {
        system::OpenFile directory;
        std::string name;
    };
    [[nodiscard]] Result<Place> place(const std::string& path) const;
    // A file in such a directory, for writing; `path` is for messages.
    [[nodiscard]] Result<Opened> write_at(const system::OpenFile& directory,
                                          const std::string& name, const std::string& path) const;

private:
    struct Root {
        system::OpenFile directory;
        std::vector<std::string> names;  // absolute: as it was given, and without symbolic links
    };
    struct Found {
        const Root* root = nullptr;
        std::string rest;
    };
    [[nodiscard]] Result<Found> find(const std::string& path, std::string_view what) const;
    [[nodiscard]] Result<Place> place_of(const std::string& path, std::string_view what) const;
    [[nodiscard]] Result<Opened> checked(system::OpenFile file, const std::string& path,
                                         std::string_view what) const;

    std::vector<Root> roots_;
    std::vector<std::string> never_;
};

}  // namespace baton::files
