// SystemFiles opens the files of this machine that are allowed, and its standard output.
#pragma once

#include "adapters/file/allowed_files.h"
#include "ports/byte_doors.h"

namespace baton::files {

class SystemFiles final : public FileDoor {
public:
    // The files outlive it and what it opens.
    explicit SystemFiles(const AllowedFiles& files) : files_(files) {}

    Result<std::unique_ptr<ByteSource>> read(const std::string& path) override;
    Result<OpenedFile> write(const std::string& path, bool append) override;
    Result<std::unique_ptr<ByteSink>> print() override;

private:
    const AllowedFiles& files_;
};

}  // namespace baton::files
