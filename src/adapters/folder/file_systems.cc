#include "adapters/folder/file_systems.h"

#include <array>

namespace baton::folder {

namespace {

struct FileSystem {
    unsigned long type;
    std::string_view name;
};

// By statfs(2) and linux/magic.h, which has not all of them.
constexpr std::array kUnfit = {
    FileSystem{0x6969, "NFS"},
    FileSystem{0x517b, "SMB"},
    FileSystem{0xff534d42, "CIFS"},
    FileSystem{0xfe534d42, "SMB2"},
    FileSystem{0x01021997, "9P"},
    FileSystem{0x00c36400, "Ceph"},
    FileSystem{0x65735546, "FUSE"},
    FileSystem{0x5346414f, "AFS"},
    FileSystem{0x6b414653, "AFS"},
    FileSystem{0x73757245, "Coda"},
    FileSystem{0x564c, "NCP"},
    FileSystem{0x0bd00bd0, "Lustre"},
    FileSystem{0x47504653, "GPFS"},
    FileSystem{0x01161970, "GFS2"},
    FileSystem{0x7461636f, "OCFS2"},
    FileSystem{0x19830326, "BeeGFS"},
    FileSystem{0xaad7aaea, "PanFS"},
    FileSystem{0x786f4256, "a shared folder of VirtualBox"},
    FileSystem{0xbacbacbc, "a shared folder of VMware"},
    FileSystem{0x9fa0, "proc"},
    FileSystem{0x62656572, "sysfs"},
};

}  // namespace

std::optional<std::string_view> unfit_file_system(unsigned long type) {
    for (const FileSystem& one : kUnfit) {
        if (one.type == (type & 0xffffffffUL)) return one.name;
    }
    return std::nullopt;
}

}  // namespace baton::folder
