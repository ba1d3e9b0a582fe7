// SystemFiles opens the files of this machine.
#pragma once

#include "ports/byte_doors.h"

namespace baton {

class SystemFiles final : public FileDoor {
public:
    Result<std::unique_ptr<ByteSource>> read(const std::string& path) override;
    Result<OpenedFile> write(const std::string& path, bool append) override;
    Result<std::unique_ptr<ByteSink>> print() override;
};

}  // namespace baton
