// The additions of a runner to the statements of a script: paths, formats and places that the
// script leaves open.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sql/ast.h"

namespace baton::slt {

// Where sources and sinks may be; empty: nothing is said, and the embedded worker is meant.
struct Places {
    std::vector<std::string> sources;
    std::vector<std::string> sinks;
};

struct SourceData {
    std::optional<std::string> file;  // for File sources
    std::optional<unsigned> port;     // for TCP sources, on this machine
};

class Supply {
public:
    // `testdata`: what relative paths of files to read begin from. `results`: where sinks write.
    Supply(Places places, std::string testdata, std::string results);

    // Where a sink writes, and what type it is.
    struct Written {
        std::string type;  // upper case
        std::string path;
    };

    void complete(sql::CreatePhysicalSource& source, const SourceData& data);
    [[nodiscard]] Written complete(sql::CreateSink& sink);
    // The sink was created as it was completed.
    void created(const sql::CreateSink& sink, const Written& written);
    // The sources and the sink that are defined on the spot.
    void complete(sql::Query& query);
    void complete(sql::SinkTarget& sink);

    [[nodiscard]] std::optional<Written> written_by(const sql::SinkTarget& sink) const;
    // The path of a file to read.
    [[nodiscard]] std::string found(const std::string& path) const;

private:
    void complete_source(const std::string& type, std::vector<sql::Setting>& settings,
                         const SourceData& data);
    Written complete_sink(const std::string& type, const std::string& name,
                          std::vector<sql::Setting>& settings);
    void complete(sql::Relation& relation);

    const Places places_;
    const std::string testdata_;
    const std::string results_;
    std::size_t next_source_ = 0;
    std::size_t next_sink_ = 0;
    std::size_t inline_sinks_ = 0;
    std::size_t named_sinks_ = 0;
    std::vector<std::pair<std::string, Written>> sinks_;  // by name, the last one first
    std::optional<Written> inline_sink_;                  // the last one
};

// Fails with unreadable_configuration.
[[nodiscard]] Result<std::string> contents_of(const std::string& path);

}  // namespace baton::slt
